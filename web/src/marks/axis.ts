/**
 * Tokens along an axis: which are named, where, and how long a name may be.
 *
 * In:   where an axis starts, how wide a cell is, how much room a name needs.
 * Out:  labels that never overlap. Close up every token has its name; far away every 2nd, 5th, 10th … has, with its number.
 */

import type { Crop } from "../core/heat";

/** Tokens up to which a name alone says where one is. */
export const FEW = 60;

export interface Label {
  readonly index: number; // of the cell
  readonly at: number; // middle of the cell, in pixels from the start of the axis
  readonly numbered: boolean; // far away: the position is written too
}

/** The smallest of 1, 2, 5, 10, 20, 50 … that is not below `least`. */
export function niceStep(least: number): number {
  if (least <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) if (factor * power >= least - 1e-9) return factor * power;
  return 10 * power;
}

/** The cells to be named on an axis of `length` pixels that begins at cell `first`. */
export function layLabels(axis: {
  first: number;
  scale: number;
  length: number;
  count: number;
  room: number;
}): Label[] {
  const { first, scale, length, count, room } = axis;
  const step = niceStep(room / scale);
  const numbered = step >= 5 && count > FEW;
  const labels: Label[] = [];
  const start = Math.max(0, Math.ceil(first / step - 1) * step);
  for (let index = start; index < count; index += step) {
    const at = (index + 0.5 - first) * scale;
    if (at > length - room / 4) break;
    if (at >= room / 4) labels.push({ index, at, numbered });
  }
  return labels;
}

/** A text cut to a width, the middle replaced by an ellipsis; `measure` gives widths. */
export function elide(text: string, width: number, measure: (text: string) => number): string {
  if (measure(text) <= width) return text;
  const letters = [...text];
  let low = 0;
  let high = letters.length - 1;
  while (low < high) {
    const kept = Math.ceil((low + high) / 2);
    if (measure(cut(letters, kept)) <= width) low = kept;
    else high = kept - 1;
  }
  return cut(letters, low);
}

function cut(letters: readonly string[], kept: number): string {
  const head = Math.ceil((kept * 2) / 3);
  return `${letters.slice(0, head).join("")}…${kept > head ? letters.slice(head - kept).join("") : ""}`;
}

/** The tokens of an axis, as far as they have arrived. */
export interface TokenNames {
  /** The token's text, if it is here; asks for it otherwise. `alone`: its neighbours are not needed. */
  get(index: number, alone?: boolean): string | undefined;
  isSpecial(index: number): boolean;
  /** What it was cut from, where that is a picture: shown instead of its text. */
  crop?(index: number): Crop | null;
}
