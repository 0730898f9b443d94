/**
 * Metrics of a recording, row by row.
 *
 * In:   maps, a level, scores.
 * Out:  rows (a head, a layer, the model) with a value for every metric, or the reason why there is none.
 */

import type { Kind, MapDescription, MetricDescription, ScoreDescription } from "../../api/types";
import { type Place, placeOf } from "../../core/place";
import type { Level } from "../../data/measures";

export interface Reading {
  readonly value: number | null;
  readonly why: string | null;
}

export interface MeasureRow {
  readonly order: number; // place before sorting
  readonly stack: string | null;
  readonly kind: Kind | null;
  readonly layer: number | null;
  readonly map: number | null; // its index in a score
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
    const whole = { stack: null, kind: null, layer: null, map: null, place: null, head: null };
    return [{ order: 0, ...whole, readings: new Map() }];
  }
  const shown = maps.filter((map) => map.step === step);
  const rows: MeasureRow[] = [];
  for (const map of shown) {
    const { stack, kind, layer, index, heads } = map;
    for (let head = 0; head < (level === "head" ? heads : 1); head++) {
      rows.push({
        order: rows.length,
        stack,
        kind,
        layer,
        map: index,
        place: placeOf(map),
        head: level === "head" ? head : null,
        readings: new Map(),
      });
    }
  }
  return rows;
}

/** Put a metric's answer into the rows. */
export function fillRows(rows: readonly MeasureRow[], name: string, answer: ScoreDescription | string): void {
  for (const row of rows) {
    if (typeof answer === "string") {
      row.readings.set(name, { value: null, why: answer });
      continue;
    }
    const part =
      answer.parts.find((each) => each.map === row.map && (row.map !== null || each.layer === null)) ?? null;
    const at = row.head ?? 0;
    row.readings.set(name, { value: part?.values[at] ?? null, why: part?.why[at] ?? null });
  }
}
