/**
 * What stands below the matrices of an operation: remarks on its numbers, and what their colours mean.
 *
 * In:   a step and its matrices.
 * Out:  lines of text.
 */

import type { WalkStep } from "../../api/types";
import { digits, percent } from "../../core/formats";
import { make } from "../../marks/make";
import type { Loaded } from "./panels";
import type { WalkWords } from "./words";

export function makeNotes({ operation, words }: WalkStep, loaded: Loaded, say: WalkWords): HTMLElement[] {
  const notes: (() => string)[] = [];
  if (words.origin === "computed") notes.push(() => say.computed);
  if (operation === "activate") notes.push(() => say.nonZero(percent(shareOn(loaded))));
  return notes.map((note) => make("p", { class: "hint" }, note));
}

/** How many numbers of the result are switched on, from 0 to 1. */
function shareOn({ result }: Loaded): number {
  const { values } = result.grid;
  let on = 0;
  for (const value of values) if (value > 0) on += 1;
  return on / Math.max(1, values.length);
}

export function makeLegend({ result }: Loaded, say: WalkWords): HTMLElement {
  const { signed, limit } = result.grid;
  const end = digits(limit, 3);
  const ramp = signed ? "walk-ramp" : "walk-ramp walk-ramp-up";
  return make("p", { class: "walk-legend hint" }, make("span", { class: ramp, "aria-hidden": "true" }), () =>
    signed ? say.scaleNote(end) : say.scaleUp(end),
  );
}
