/**
 * One score: the vectors of a query and a key, their products and sum, and what was recorded for the pair.
 *
 * In:   a source, the pair in focus.
 * Out:  Pair; whether its arithmetic is that of the recording.
 */

import { asFloats, type Frame, tensor } from "../../api/frames";
import type { RecordingSource } from "../../core/source";
import type { Focus } from "./panel";

const CLOSE = 2e-5; // of the larger: what rounding of float32 may leave

export interface Pair {
  readonly at: number; // of the key, on its axis
  readonly query: Float32Array; // of one token, (width)
  readonly key: Float32Array;
  readonly products: Float64Array;
  readonly sum: number;
  readonly score: number | null; // as recorded; minus infinity where masked
  readonly weight: number | null;
}

/** Products of two vectors and their sum, in double precision. */
export function multiplyPair(
  query: Float32Array,
  key: Float32Array,
): { products: Float64Array; sum: number } {
  const products = Float64Array.from(query, (value, at) => value * key[at]!);
  return { products, sum: products.reduce((total, each) => total + each, 0) };
}

/** Whether the scaled sum is the recorded score, up to rounding of float32. */
export function matches(scaled: number, score: number, products: Float64Array, scale: number): boolean {
  const size = products.reduce((total, each) => total + Math.abs(each), 0) * Math.abs(scale);
  return Math.abs(scaled - score) <= CLOSE * Math.max(size, 1e-3);
}

/** The pair in focus; without a key, the one the query looks at most. */
export async function readPair(source: RecordingSource, focus: Focus): Promise<Pair> {
  const { map, oneHead, query } = focus;
  const row = [query, query + 1] as const;
  const [queries, keys, weights, scores] = await Promise.all([
    source.vectors(map, "queries", oneHead),
    source.vectors(map, "keys", oneHead),
    map.has_weights ? source.weights(map, { head: oneHead, queries: row }, "float32") : null,
    map.has_scores ? source.scores(map, { head: oneHead, queries: row }) : null,
  ]);
  const weightRow = weights === null ? null : asFloats(tensor(weights, "weights"));
  const at = focus.key ?? (weightRow === null ? 0 : peakOf(weightRow));
  const [one, other] = [vectorAt(queries, "queries", query), vectorAt(keys, "keys", at)];
  return {
    at,
    query: one,
    key: other,
    ...multiplyPair(one, other),
    score: scores === null ? null : asFloats(tensor(scores, "scores"))[at]!,
    weight: weightRow?.[at] ?? null,
  };
}

/** The vector of one token, of an array (token, width). */
function vectorAt(frame: Frame, name: string, token: number): Float32Array {
  const all = tensor(frame, name);
  const width = all.shape.at(-1)!;
  return asFloats(all).subarray(token * width, (token + 1) * width);
}

/** The key with the largest weight. */
export function peakOf(row: Float32Array): number {
  let peak = 0;
  for (let at = 1; at < row.length; at++) if (row[at]! > row[peak]!) peak = at;
  return peak;
}
