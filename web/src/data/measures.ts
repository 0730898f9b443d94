/**
 * Scores of metrics, and statistics along the text.
 *
 * In:   a source, a metric and a level.
 * Out:  the score, or why it is refused; an abort stays an abort.
 */

import { asFloats, tensor } from "../api/frames";
import type { MapDescription, MetricDescription, ScoreDescription } from "../api/types";
import type { Text } from "../core/messages";
import { type RecordingSource, Refusal } from "../core/source";
import { type Threshold, thresholdParameters } from "../core/threshold";

export type Level = "head" | "layer" | "model";

export async function measure(
  source: RecordingSource,
  metric: MetricDescription,
  level: Level,
  threshold?: Threshold, // of metrics that count weights; otherwise as the server usually does
): Promise<ScoreDescription | readonly Text[]> {
  try {
    const parameters = threshold === undefined ? {} : thresholdParameters(metric, threshold);
    return await source.score(metric.name, level, parameters);
  } catch (error) {
    if (error instanceof Refusal) return [error.said];
    throw error;
  }
}

/** Statistics of every head and query, by name: (head, query). */
export async function readStatistics(
  source: RecordingSource,
  map: MapDescription,
  names: readonly string[],
): Promise<ReadonlyMap<string, Float32Array>> {
  const frame = await source.statistics(map.place);
  return new Map(names.map((name) => [name, asFloats(tensor(frame, name))]));
}
