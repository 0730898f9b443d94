/**
 * Plans of real networks, as tests/walk/test_page_plans.py writes them.
 *
 * In:   plans.test.json, in which nothing stands for null.
 * Out:  plans by name.
 */

import type { WalkPlan, WalkStep } from "../api/types";
import found from "./plans.test.json";
import { noParameters } from "./walk";

type Bare = { readonly chapters: readonly { readonly steps: readonly object[] }[] };

function revive(plan: Bare): WalkPlan {
  const nothing = { stack: null, layer: null, missing: null };
  const step = (each: Partial<WalkStep>) => ({
    ...nothing,
    ...each,
    parameters: { ...noParameters, ...each.parameters },
  });
  const chapters = plan.chapters.map((each) => ({ ...nothing, ...each, steps: each.steps.map(step) }));
  return { norm_position: null, architecture: null, ...plan, chapters } as unknown as WalkPlan;
}

export const plans = Object.fromEntries(
  Object.entries(found as Record<string, Bare>).map(([name, plan]) => [name, revive(plan)]),
);
