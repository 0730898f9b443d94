import { expect, test } from "vitest";
import type { RecordingSource } from "../core/source";
import type { Asker } from "../core/tasks";
import { frame, makeMap } from "../testing/recording";
import { AxisNumbers, rolloutLayers } from "./axis_numbers";

const MEANS = [
  [1, 0, 0.5, 0.5],
  [0, 1, 0.25, 0.75],
  [0, 1, 0, 1],
]; // (layer, query · key) of two tokens
const MAPS = MEANS.map((_, layer) => makeMap(layer, { layer, queries: 2, keys: 2 }));

const source = {
  weights: async ({ layer }: { layer: number }) =>
    frame({ weights: { shape: [2, 2], data: Float32Array.from(MEANS[layer]!) } }),
} as unknown as RecordingSource;

async function rollout(layer: number, row: number): Promise<number[]> {
  const map = MAPS[layer]!;
  const numbers = await AxisNumbers.load(source, map, "rollout", 0, rolloutLayers(MAPS, map)!);
  return [...numbers.get(row, null as unknown as Asker, () => {})!];
}

test("rollout goes from the layer of the map down to the input, and not above it", async () => {
  expect(await rollout(0, 1)).toEqual([0.25, 0.75]); // half of it stays, half is [0.5, 0.5]
  expect(await rollout(1, 0)).toEqual([0.625, 0.375]); // [0.5, 0.5] of [1, 0] and [0.25, 0.75]
  expect(await rollout(2, 0)).toEqual([0.484375, 0.515625]); // [0.5, 0.5] of [0.625, 0.375] and [0.34375, 0.65625]
});

test("rollout needs the layers below a map, whatever is above", () => {
  const [first, second, third] = MAPS as [(typeof MAPS)[0], (typeof MAPS)[0], (typeof MAPS)[0]];
  const bare = { ...third, has_weights: false };
  expect(rolloutLayers([third, second, first], second)).toEqual([first, second]);
  expect(rolloutLayers([first, second, bare], second)).toEqual([first, second]);
  expect(rolloutLayers([first, second, bare], bare)).toBeNull();
  expect(rolloutLayers([second, third], third)).toBeNull(); // the lowest is missing
});
