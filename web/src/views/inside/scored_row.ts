/**
 * One row of scores and weights, and what the weights become when the scores are multiplied.
 *
 * In:   a source, the row in focus, a factor.
 * Out:  the row; its weights anew; numbers before and after.
 */

import { asFloats, tensor } from "../../api/frames";
import { entropyOf, rescale } from "../../core/maths/softmax";
import type { RecordingSource } from "../../core/source";
import type { Focus, Words } from "./panel";

export interface ScoredRow {
  readonly scores: Float32Array;
  readonly weights: Float32Array;
}

export async function readScoredRow(
  source: RecordingSource,
  { map, oneHead, query }: Focus,
): Promise<ScoredRow> {
  const where = { head: oneHead, queries: [query, query + 1] } as const;
  const [scores, weights] = await Promise.all([
    source.scores(map, where),
    source.weights(map, where, "float32"),
  ]);
  return { scores: asFloats(tensor(scores, "scores")), weights: asFloats(tensor(weights, "weights")) };
}

/** The weights that softmax gives to scores times a factor. */
export function rescaleRow({ scores, weights }: ScoredRow, factor: number): ReturnType<typeof rescale> {
  return rescale(scores, weights, factor);
}

/** Entropy, spread and peak: a name, the number before, the number after. */
export function measureRow(row: ScoredRow, factor: number, say: Words): [string, number, number][] {
  const after = rescaleRow(row, factor);
  const [one, other] = [entropyOf(row.weights), entropyOf(after)];
  return [
    [say.entropy, one, other],
    [say.spread, Math.exp(one), Math.exp(other)],
    [say.peak, Math.max(...row.weights), Math.max(...after)],
  ];
}
