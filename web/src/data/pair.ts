/**
 * One score: the vectors of a query and a key, their products and sum, and what was recorded for the pair.
 *
 * In:   a source, the pair in focus.
 * Out:  Pair; whether its arithmetic is that of the recording.
 */

import { asFloats, type Frame, tensor } from "../api/frames";
import type { Focus } from "../core/focus";
import type { RecordingSource } from "../core/source";
import { readRow } from "./weights";

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

export interface ScoredRow {
  readonly scores: Float32Array;
  readonly weights: Float32Array;
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
  const [queries, keys, weights, scores] = await Promise.all([
    source.vectors(map.place, "queries", oneHead),
    source.vectors(map.place, "keys", oneHead),
    map.has_weights ? readRow(source, map, oneHead, query) : null,
    map.has_scores ? readScores(source, focus) : null,
  ]);
  const at = focus.key ?? (weights === null ? 0 : peakOf(weights));
  const [one, other] = [vectorAt(queries, "queries", query), vectorAt(keys, "keys", at)];
  const products = multiplyPair(one, other);
  return {
    at,
    query: one,
    key: other,
    ...products,
    score: scores?.[at] ?? null,
    weight: weights?.[at] ?? null,
  };
}

/** The scores and weights of the row in focus. */
export async function readScoredRow(source: RecordingSource, focus: Focus): Promise<ScoredRow> {
  const { map, oneHead, query } = focus;
  const [scores, weights] = await Promise.all([
    readScores(source, focus),
    readRow(source, map, oneHead, query),
  ]);
  return { scores, weights };
}

async function readScores(source: RecordingSource, { map, oneHead, query }: Focus): Promise<Float32Array> {
  const frame = await source.scores(map.place, { head: oneHead, queries: [query, query + 1] });
  return asFloats(tensor(frame, "scores"));
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
