/**
 * Options of the text view: what its colours show, and which part of a long text is in the window.
 *
 * In:   options, the selection, a map.
 * Out:  mode and windows.
 */

import type { MapDescription } from "../../api/types";
import { axisOf } from "../../core/maps";
import { integer, oneOf, optional, type Schema } from "../../core/options";
import type { Selection } from "../../core/selection";

export type Axis = "query" | "key";

/** Colours show what a token attends to, what attends to it, or what all attend to. */
export const MODES = ["out", "in", "received"] as const;
export type Mode = (typeof MODES)[number];

export const WINDOW = 2000; // tokens shown at once

export interface TextOptions {
  readonly show: Mode;
  readonly queries: number | null; // where the windows begin; null: around the chosen token
  readonly keys: number | null;
}

export const options: Schema<TextOptions> = {
  show: oneOf(MODES, "out"),
  queries: optional(integer(0)),
  keys: optional(integer(0)),
};

/** First and one past the last token of the window on an axis; `alone`: one text is both axes. */
export function windowOf(
  { queries, keys }: TextOptions,
  { query, key }: Selection,
  map: MapDescription,
  axis: Axis,
  alone: boolean,
): readonly [number, number] {
  const [start, count] = axisOf(map, axis);
  if (count <= WINDOW) return [start, start + count];
  const chosen = (axis === "key" ? key : alone ? (query ?? key) : query) ?? start;
  const first = (axis === "key" ? keys : queries) ?? chosen - WINDOW / 2;
  const fitted = fit(map, axis, Math.round(first / 100) * 100);
  return [fitted, fitted + WINDOW];
}

/** The option that begins the window at a token, as far as the text allows. */
export function moveWindow(map: MapDescription, axis: Axis, first: number): Partial<TextOptions> {
  const at = fit(map, axis, first);
  return axis === "key" ? { keys: at } : { queries: at };
}

function fit(map: MapDescription, axis: Axis, first: number): number {
  const [start, count] = axisOf(map, axis);
  return Math.max(start, Math.min(start + count - WINDOW, first));
}
