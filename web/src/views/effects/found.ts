/**
 * Effects as they come: estimates first, then what real passes say.
 *
 * In:   the steps of a job.
 * Out:  for each map its heads and all of them together, for the strongest edges likewise; what is known best, and how.
 */

import type { EffectsStep } from "../../api/types";

type Step = EffectsStep;
type Edge = Step["edges"][number];

export interface Effect {
  readonly estimate: number | null;
  readonly measured: number | null;
}

export interface MapEffects {
  readonly place: string; // address of the map
  readonly heads: readonly Effect[];
  readonly layer: Effect; // all heads together
}

export interface EdgeEffects extends Effect, Omit<Edge, "effect"> {}

export interface Found {
  readonly outcome: Step["outcome"] | null;
  readonly baseline: number | null;
  readonly maps: readonly MapEffects[];
  readonly edges: readonly EdgeEffects[];
  readonly confirmed: number; // heads
  readonly heads: number;
  readonly largest: number; // effect of a single head: the end of the colours, for layers and edges may be far beyond
  readonly estimated: boolean; // some are estimates, or were
}

export const known = ({ measured, estimate }: Effect): number | null => measured ?? estimate;

/** All that the steps so far say. */
export function collect(steps: readonly Step[]): Found {
  const both = (of: (step: Step) => (number | null) | undefined): Effect => {
    const said = (confirmed: boolean): number | null =>
      steps
        .filter((step) => step.confirmed === confirmed)
        .map(of)
        .findLast((value) => value !== undefined) ?? null;
    return { estimate: said(false), measured: said(true) };
  };
  const places = new Map<string, number>(); // how many heads
  const edges = new Map<string, Edge>();
  for (const step of steps) {
    for (const { place, heads } of step.places) places.set(place, heads.length);
    for (const edge of step.edges) edges.set(nameEdge(edge), edge);
  }
  const maps = [...places].map(([place, count]): MapEffects => {
    const at = (step: Step) => step.places.find((each) => each.place === place);
    return {
      place,
      heads: Array.from({ length: count }, (_, head) => both((step) => at(step)?.heads[head])),
      layer: both((step) => at(step)?.layer),
    };
  });
  const heads = maps.flatMap((map) => map.heads);
  return {
    outcome: steps[0]?.outcome ?? null,
    baseline: steps.at(-1)?.baseline ?? null,
    maps,
    edges: [...edges.values()]
      .map(({ effect: _, ...edge }) => ({
        ...edge,
        ...both((step) => step.edges.find((each) => nameEdge(each) === nameEdge(edge))?.effect),
      }))
      .sort((one, other) => Math.abs(known(other) ?? 0) - Math.abs(known(one) ?? 0)),
    confirmed: heads.filter(({ measured }) => measured !== null).length,
    heads: heads.length,
    largest: heads.reduce((most, head) => Math.max(most, Math.abs(known(head) ?? 0)), 0),
    estimated: steps.some(({ confirmed }) => !confirmed),
  };
}

function nameEdge({ place, head, query, key }: Omit<Edge, "effect">): string {
  return `${place} ${head} ${query} ${key}`;
}
