/**
 * What the selection says about lines: which heads, how weak a line may be, what is fully opaque.
 *
 * In:   the selection.
 * Out:  heads, threshold, scale; and changes of the selection.
 */

import { figure } from "../../core/formats";
import type { Selection, SelectionStore } from "../../core/selection";

const THRESHOLD = 0.02;
const HEADS_OPTION = "lines.heads"; // "3:0,3,5": the heads shown while 3 is the selection's head
const THRESHOLD_OPTION = "lines.threshold";
const SCALE_OPTION = "lines.scale";

/** The heads to draw: those of the option while it belongs to the selection's head, else that head, else all. */
export function chosenHeads(selection: Selection, count: number): number[] {
  const every = Array.from({ length: count }, (_, head) => head);
  if (selection.head === "model") return [0];
  const [base, list] = (selection.options[HEADS_OPTION] ?? "").split(":");
  if (list !== undefined && base === String(selection.head)) {
    const wanted = new Set(list.split(",").filter(Boolean).map(Number));
    return every.filter((head) => wanted.has(head));
  }
  return typeof selection.head === "number" ? every.filter((head) => head === selection.head) : every;
}

/** One head becomes the selection's, all are its average; others are an option. */
export function chooseHeads(store: SelectionStore, heads: readonly number[], count: number): void {
  const { head, options: now } = store.get();
  const { [HEADS_OPTION]: _, ...options } = now;
  if (heads.length === 1) store.set({ head: heads[0]!, options });
  else if (heads.length === count) store.set({ head: "mean", options });
  else store.set({ options: { ...options, [HEADS_OPTION]: `${head}:${heads.join(",")}` } });
}

export function thresholdOf({ options }: Selection): number {
  const value = Number(options[THRESHOLD_OPTION] ?? THRESHOLD);
  return value >= 0 && value <= 1 ? value : THRESHOLD;
}

export function chooseThreshold(store: SelectionStore, threshold: number): void {
  const usual = Math.abs(threshold - THRESHOLD) < 5e-4;
  store.option(THRESHOLD_OPTION, usual ? null : figure(threshold, 4));
}

/** Whether the strongest line in view is fully opaque, and not only a weight of 1. */
export function isRelative({ options }: Selection): boolean {
  return options[SCALE_OPTION] === "relative";
}

export function chooseRelative(store: SelectionStore, relative: boolean): void {
  store.option(SCALE_OPTION, relative ? "relative" : null);
}
