/**
 * Numbers of the tokens of an axis: a row or column of a map, what keys receive, or rollout through a stack.
 *
 * In:   a source, a map, a head.
 * Out:  a number for each token of an axis. A map of usual size is fetched whole, so that the pointer waits for nothing.
 */

import type { MapDescription } from "../api/types";
import type { Head } from "../core/maps";
import { mix, traceDown } from "../core/maths/rollout";
import type { RecordingSource } from "../core/source";
import { readColumn, readMass, readMatrix, readRow } from "./weights";

/** What a token looks at, what looks at it, what all look at, or where its information came from through all layers. */
export const MODES = ["out", "in", "received", "rollout"] as const;
export type Mode = (typeof MODES)[number];

const WHOLE = 2_000_000; // cells of a map that is fetched at once
const LONGEST = 600; // tokens that rollout follows: it stays below a frame

/** The layers that rollout goes through from a map on downwards; null where it cannot. */
export function rolloutLayers(
  maps: readonly MapDescription[],
  map: MapDescription,
): readonly MapDescription[] | null {
  const { stack, kind, step } = map.place;
  if (kind !== "self" || step !== null || map.queries !== map.keys || map.queries > LONGEST) return null;
  const layers = maps
    .filter(({ place }) => place.stack === stack && place.kind === kind && place.step === null)
    .sort((one, other) => one.place.layer - other.place.layer);
  const sound = layers.every(
    (each, at) =>
      each.place.layer === at &&
      each.queries === map.queries &&
      each.keys === map.keys &&
      each.has_weights &&
      each.content === "weights",
  );
  return sound ? layers : null;
}

export class AxisNumbers {
  private constructor(
    private readonly map: MapDescription,
    private readonly mode: Mode,
    private readonly head: Head,
    private readonly mass: Float32Array | null,
    private readonly matrix: Float32Array | null,
    private readonly mixes: readonly Float32Array[],
  ) {}

  static async load(
    source: RecordingSource,
    map: MapDescription,
    mode: Mode,
    head: Head,
    layers: readonly MapDescription[],
  ): Promise<AxisNumbers> {
    if (mode === "received")
      return new AxisNumbers(map, mode, head, await readMass(source, map, head), null, []);
    if (mode === "rollout") {
      const means = await Promise.all(layers.map((each) => readMatrix(source, each, "mean", "float32")));
      const mixes = means.map((mean) => mix(mean, map.queries));
      return new AxisNumbers(map, mode, head, null, null, mixes);
    }
    const whole = head === "model" || map.queries * map.keys <= WHOLE;
    const matrix = whole ? await readMatrix(source, map, head, "float32") : null;
    return new AxisNumbers(map, mode, head, null, matrix, []);
  }

  /** At once; null where they have to be fetched. `row`: of the axis in focus. */
  now(row: number): Float32Array | null {
    const { map, matrix } = this;
    if (this.mode === "received") return this.mass;
    if (this.mode === "rollout") return traceDown(this.mixes, map.queries, row)[0]!;
    if (matrix === null) return null;
    if (this.mode === "out") return matrix.subarray(row * map.keys, (row + 1) * map.keys);
    return Float32Array.from({ length: map.queries }, (_, query) => matrix[query * map.keys + row]!);
  }

  /** From the source, where `now` has none. */
  ask(source: RecordingSource, row: number): Promise<Float32Array> {
    const read = this.mode === "out" ? readRow : readColumn;
    return read(source, this.map, this.head, row);
  }
}
