/**
 * What the selection says about the text: what its colours show, and which part of a long text is in the window.
 *
 * In:   the selection, a map.
 * Out:  mode and windows; and changes of the selection.
 */

import type { MapDescription } from "../../api/types";
import { axisOf } from "../../core/maps";
import type { Selection, SelectionStore } from "../../core/selection";

export type Axis = "query" | "key";

/** Colours show what a token attends to, what attends to it, or what all attend to. */
export const MODES = ["out", "in", "received"] as const;
export type Mode = (typeof MODES)[number];

export const WINDOW = 2000; // tokens shown at once
const MODE_OPTION = "text.show";
const FROM_OPTION: Readonly<Record<Axis, string>> = { query: "text.queries", key: "text.keys" }; // where windows begin

export function modeOf({ options }: Selection, map: MapDescription): Mode {
  const wanted = options[MODE_OPTION];
  if (!map.has_weights) return "received";
  return wanted === "in" || wanted === "received" ? wanted : "out";
}

export function chooseMode(store: SelectionStore, mode: Mode): void {
  store.option(MODE_OPTION, mode === "out" ? null : mode);
}

/** A token as query shows what it attends to, as key what attends to it. */
export function chooseToken(store: SelectionStore, axis: Axis, token: number): void {
  const { [MODE_OPTION]: _, ...options } = store.get().options;
  if (axis === "query") store.set({ query: token, options });
  else store.set({ key: token, options: { ...options, [MODE_OPTION]: "in" } });
}

/** First and one past the last token of the window on an axis; `alone`: one text is both axes. */
export function windowOf(
  { options, query, key }: Selection,
  map: MapDescription,
  axis: Axis,
  alone: boolean,
): readonly [number, number] {
  const [, start, count] = axisOf(map, axis);
  if (count <= WINDOW) return [start, start + count];
  const wanted = Number(options[FROM_OPTION[axis]] ?? Number.NaN);
  const chosen = (axis === "key" ? key : alone ? (query ?? key) : query) ?? start;
  const first = Number.isFinite(wanted) ? wanted : chosen - WINDOW / 2;
  const fitted = Math.max(start, Math.min(start + count - WINDOW, Math.round(first / 100) * 100));
  return [fitted, fitted + WINDOW];
}

/** Begin the window at a token, as far as the text allows. */
export function moveWindow(store: SelectionStore, map: MapDescription, axis: Axis, first: number): void {
  const [, start, count] = axisOf(map, axis);
  store.option(FROM_OPTION[axis], String(Math.max(start, Math.min(start + count - WINDOW, first))));
}
