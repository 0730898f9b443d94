/**
 * Options of the lines view: which heads, how weak a line may be, what is fully opaque.
 *
 * In:   options and selection.
 * Out:  the heads that are drawn; changes of both.
 */

import { fixed } from "../../core/formats";
import { flag, type Option, type Options, real, type Schema } from "../../core/options";
import type { Selection } from "../../core/selection";

const THRESHOLD = 0.02;

interface SeveralHeads {
  readonly of: string; // the selection's head while they were chosen
  readonly heads: readonly number[];
}

export interface LinesOptions {
  readonly heads: SeveralHeads | null;
  readonly threshold: number;
  readonly scale: boolean; // the strongest line in view is fully opaque, and not only a weight of 1
}

/** "3:0,3,5": the heads shown while 3 is the selection's head. */
const heads: Option<SeveralHeads | null> = {
  initial: null,
  parse(text) {
    const [, of, list] = /^(\w+):([\d,]*)$/.exec(text) ?? [];
    return of === undefined ? undefined : { of, heads: list!.split(",").filter(Boolean).map(Number) };
  },
  write: (value) => (value === null ? "" : `${value.of}:${value.heads.join(",")}`),
};

export const options: Schema<LinesOptions> = {
  heads,
  threshold: { ...real(THRESHOLD, 0, 1), write: (value) => fixed(value, 4) },
  scale: flag(false, "relative"),
};

/** The heads to draw: those of the option while it belongs to the selection's head, else that head, else all. */
export function chosenHeads({ heads }: LinesOptions, { head }: Selection, count: number): number[] {
  const every = Array.from({ length: count }, (_, at) => at);
  if (head === "model") return [0];
  if (heads?.of === String(head)) return every.filter((each) => heads.heads.includes(each));
  return typeof head === "number" ? every.filter((each) => each === head) : every;
}

/** One head becomes the selection's, all are its average; others are an option. */
export function chooseHeads(
  options: Options<LinesOptions>,
  { head }: Selection,
  chosen: readonly number[],
  count: number,
): void {
  if (chosen.length === 1) options.set({ heads: null }, { head: chosen[0]! });
  else if (chosen.length === count) options.set({ heads: null }, { head: "mean" });
  else options.set({ heads: { of: String(head), heads: chosen } });
}

/** A threshold of the slider; next to the default is the default. */
export function roundThreshold(threshold: number): number {
  return Math.abs(threshold - THRESHOLD) < 5e-4 ? THRESHOLD : threshold;
}
