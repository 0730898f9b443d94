/**
 * What stands below the matrices of an operation: remarks on its numbers, and what their colours mean.
 *
 * In:   a step and its matrices.
 * Out:  lines of text.
 */

import type { WalkStep } from "../../api/types";
import { digits, percent } from "../../core/formats";
import type { Theme } from "../../core/view";
import { make, setStyle } from "../../marks/make";
import type { WalkContext } from "./context";
import { isNamedByWritten, type Loaded } from "./panels";
import { coloursOf, type Grid } from "./values";
import type { WalkWords } from "./words";

export function makeNotes(context: WalkContext, step: WalkStep, loaded: Loaded): HTMLElement[] {
  const notes: (() => string)[] = [];
  const { say } = context;
  const { operation, words } = step;
  if (isNamedByWritten(context, step)) notes.push(() => say.rowsWritten);
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

export function makeLegend({ result }: Loaded, say: WalkWords, theme: Theme): HTMLElement {
  const { signed, limit } = result.grid;
  const end = digits(limit, 3);
  const ramp = make("span", { class: "walk-ramp", "aria-hidden": "true" });
  paintRamp(ramp, result.grid, theme);
  return make("p", { class: "walk-legend hint" }, ramp, () =>
    signed ? say.scaleNote(end) : say.scaleUp(end),
  );
}

/** The colours of a grid from its least number to its largest, as its cells have them. */
export function paintRamp(ramp: HTMLElement, grid: Grid, theme: Theme): void {
  const table = coloursOf(grid, theme);
  const stops = Array.from({ length: 9 }, (_, part) => {
    const share = grid.signed ? part / 8 : Math.sqrt(part / 8);
    const at = 3 * Math.round(255 * share);
    return `rgb(${table[at]}, ${table[at + 1]}, ${table[at + 2]})`;
  });
  setStyle(ramp, { background: `linear-gradient(90deg, ${stops.join(", ")})` });
}
