import { UMAP } from "umap-js";
import { expect, it } from "vitest";
import { seeded } from "./random";
import { fuzzyGraph } from "./umap";

it("weighs neighbourhoods as the reference does", () => {
  const random = seeded(3);
  const states = Array.from({ length: 60 }, () => Array.from({ length: 5 }, () => random()));
  const distance = (one: number[], other: number[]) =>
    Math.hypot(...one.map((value, at) => value - other[at]!));
  const indices = states.map((state) =>
    Array.from(states.keys())
      .sort((one, other) => distance(state, states[one]!) - distance(state, states[other]!))
      .slice(0, 10),
  );
  const distances = indices.map((row, point) => row.map((other) => distance(states[point]!, states[other]!)));
  const reference = new UMAP({ nNeighbors: 10, random: seeded(1) });
  reference.setPrecomputedKNN(indices, distances);
  reference.initializeFit(states);
  const wanted = (reference as unknown as { graph: { get(row: number, column: number): number } }).graph;
  const graph = fuzzyGraph({ indices, distances });
  let largest = 0;
  graph.weight.forEach((weight, edge) => {
    largest = Math.max(largest, Math.abs(weight - wanted.get(graph.from[edge]!, graph.to[edge]!)));
  });
  expect(graph.weight.length).toBeGreaterThan(600);
  expect(largest).toBeLessThan(1e-3); // the reference stops its bisection at the same tolerance
});
