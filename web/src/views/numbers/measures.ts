/**
 * Metrics of a recording, row by row.
 *
 * In:   maps, a level, scores.
 * Out:  rows (a head, a layer, the model) with a value for every metric, or the reason why there is none.
 */

import type { Kind, MapDescription, MetricDescription, ScoreDescription } from "../../api/types";
import type { Text } from "../../core/messages";
import { type Place, samePlace } from "../../core/place";
import type { Level } from "../../data/measures";

export interface Reading {
  readonly value: number | null;
  readonly why: readonly Text[]; // where there is no value
}

export interface MeasureRow {
  readonly order: number; // place before sorting
  readonly stack: string | null;
  readonly kind: Kind | null;
  readonly layer: number | null;
  readonly place: Place | null;
  readonly head: number | null;
  readonly readings: Map<string, Reading>;
}

/** The metrics a table can have: a number for each head, and nothing that a person has to give. */
export function tabular(metrics: readonly MetricDescription[]): readonly MetricDescription[] {
  return metrics.filter(({ levels, over }) => over === "head" && levels.includes("head"));
}

/** Rows of one level, in the order of the maps; of generation steps only those of `step`. */
export function emptyRows(maps: readonly MapDescription[], level: Level, step: number | null): MeasureRow[] {
  if (level === "model") {
    const whole = { stack: null, kind: null, layer: null, place: null, head: null };
    return [{ order: 0, ...whole, readings: new Map() }];
  }
  const shown = maps.filter((map) => map.place.step === step);
  const rows: MeasureRow[] = [];
  for (const map of shown) {
    const { stack, kind, layer } = map.place;
    for (let head = 0; head < (level === "head" ? map.heads : 1); head++) {
      rows.push({
        order: rows.length,
        stack,
        kind,
        layer,
        place: map.place,
        head: level === "head" ? head : null,
        readings: new Map(),
      });
    }
  }
  return rows;
}

/** Put a metric's answer into the rows. */
export function fillRows(
  rows: readonly MeasureRow[],
  name: string,
  answer: ScoreDescription | readonly Text[],
): void {
  for (const row of rows) {
    if (!("parts" in answer)) {
      row.readings.set(name, { value: null, why: answer });
      continue;
    }
    const part = answer.parts.find((each) => samePlace(each.place, row.place));
    const at = row.head ?? 0;
    row.readings.set(name, {
      value: part?.values[at] ?? null,
      why: part?.undefined ?? [],
    });
  }
}
