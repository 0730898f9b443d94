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
import type { Asker } from "../core/tasks";
import { readColumn, readMass, readMatrix, readRow } from "./weights";

/** What a token looks at, what looks at it, what all look at, or where its information came from through this layer and those below. */
export const MODES = ["out", "in", "received", "rollout"] as const;
export type Mode = (typeof MODES)[number];

const WHOLE = 3_000_000; // cells of a map that is fetched at once
const LONGEST = 600; // tokens that rollout follows: it stays below a frame

/** The layers that rollout goes through from a map on downwards, the lowest first; null where it cannot. */
export function rolloutLayers(
  maps: readonly MapDescription[],
  map: MapDescription,
): readonly MapDescription[] | null {
  const { stack, kind, step, layer: top } = map.place;
  if (kind !== "self" || step !== null || map.queries !== map.keys || map.queries > LONGEST) return null;
  const layers = maps
    .filter(({ place }) => place.stack === stack && place.kind === kind && place.step === null)
    .filter(({ place }) => place.layer <= top)
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
  private fetched: { readonly row: number; readonly values: Float32Array } | null = null;

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

  /** `row`: of the axis in focus. */
  private now(row: number): Float32Array | null {
    const { map, matrix } = this;
    if (this.mode === "received") return this.mass;
    if (this.mode === "rollout") return traceDown(this.mixes, map.queries, row)[0]!;
    if (matrix === null) return null;
    if (this.mode === "out") return matrix.subarray(row * map.keys, (row + 1) * map.keys);
    return Float32Array.from({ length: map.queries }, (_, query) => matrix[query * map.keys + row]!);
  }

  /** The weight of one pair; where the map is too large, only of the row or column that was asked for last. */
  at(query: number, key: number): number {
    if (this.matrix !== null) return this.matrix[query * this.map.keys + key] ?? 0;
    const [row, column] = this.mode === "in" ? [key, query] : [query, key];
    return this.fetched?.row === row ? (this.fetched.values[column] ?? 0) : 0;
  }

  /** At once or, where they have to be fetched, null and later: `arrived` is told. */
  get(row: number, asker: Asker, arrived: () => void): Float32Array | null {
    const here = this.now(row) ?? (this.fetched?.row === row ? this.fetched.values : null);
    if (here === null)
      asker.ask(
        `${row}`,
        (source) => this.ask(source, row),
        (values) => {
          this.fetched = { row, values };
          arrived();
        },
      );
    return here;
  }

  /** From the source, where `now` has none. */
  private ask(source: RecordingSource, row: number): Promise<Float32Array> {
    const read = this.mode === "out" ? readRow : readColumn;
    return read(source, this.map, this.head, row);
  }
}
