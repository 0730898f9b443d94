import { expect, test } from "vitest";
import { plans } from "../testing/plans";
import { headIn } from "./walk_arrays";

test("heads that share keys are shown the keys that they read", () => {
  const plan = plans.local!; // four heads, two of keys
  const steps = new Map(plan.chapters.flatMap((chapter) => chapter.steps).map((step) => [step.id, step]));
  const heads = (id: string) => [0, 1, 2, 3].map((head) => headIn(plan, steps.get(id)!, head));
  expect(heads("decoder.0.self.keys")).toEqual([0, 0, 1, 1]);
  expect(heads("decoder.0.self.keys_normed")).toEqual([0, 0, 1, 1]);
  expect(heads("decoder.0.self.queries")).toEqual([0, 1, 2, 3]);
  expect(heads("decoder.0.self.weights")).toEqual([0, 1, 2, 3]);
});
