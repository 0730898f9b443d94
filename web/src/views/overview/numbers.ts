/**
 * A number for each head: what was measured, what it means, how it is said.
 *
 * In:   metrics, a score over heads.
 * Out:  values by map and head with their limits; sentences.
 */

import type { Description, Language, MetricDescription, ScoreDescription, ScorePart } from "../../api/types";
import { joinSentences } from "../../core/focus";
import { digits } from "../../core/formats";
import { formatText } from "../../core/messages";
import { reach } from "../../marks/sparkline";
import type { Box } from "./grid";
import type { Words } from "./words";

export interface Numbers {
  readonly limits: readonly [number, number];
  readonly parts: ReadonlyMap<string, ScorePart>; // by the address of a map
}

/** The metrics that give a number for each head of this recording. */
export function headMetrics(
  metrics: readonly MetricDescription[],
  { maps }: Description,
): readonly MetricDescription[] {
  const weights = maps.some((map) => map.has_weights);
  return metrics.filter((each) => each.levels.includes("head") && (weights || each.needs === "statistics"));
}

export function numbersOf(score: ScoreDescription): Numbers {
  const placed = score.parts.flatMap((part) =>
    part.place === null ? [] : [[part.place.address, part] as const],
  );
  const limits = reach(placed.flatMap(([, { values }]) => values)) ?? [0, 1];
  return { parts: new Map(placed), limits };
}

/** Why no head has a number; null where one has. */
export function whyNone({ parts }: ScoreDescription, language: Language): string | null {
  if (parts.some(({ values }) => values.some((value) => value !== null))) return null;
  return joinSentences(parts[0]?.undefined ?? [], language) || null;
}

/** What a metric is, and what low and high numbers mean. */
export function explainMetric({ caption, lower, higher }: MetricDescription, language: Language): string {
  return joinSentences([caption, lower, higher], language);
}

/** A head's number with its metric's name, or why there is none. */
export function tellNumber(
  { map, value }: Box,
  metric: MetricDescription,
  { parts }: Numbers,
  language: Language,
  say: Words,
): string {
  const why = joinSentences(parts.get(map.place.address)?.undefined ?? [], language);
  const text = value !== null ? digits(value, 4) : why === "" ? say.unknown : say.undefined(why);
  return `${formatText(metric.label, language)}: ${text}`;
}
