/**
 * The threshold τ above which a weight counts as not zero: one reading of "numbers.tau" and "numbers.relative" for the
 * Numbers view, the panel and the URL.
 *
 * In:   options of the selection, the maps that are counted.
 * Out:  τ, as a weight or as a multiple of 1/n; each kind has its own default.
 */

import type { MapDescription, MetricDescription } from "../api/types";
import { flag, type OptionTexts, optional, readOptions, real, type Schema, writeOptions } from "./options";

export interface Threshold {
  readonly tau: number;
  readonly relative: boolean; // τ counts in 1/n, where n is the number of keys
}

export const ABSOLUTE: Threshold = { tau: 0.01, relative: false };
const standardTau = (relative: boolean): number => (relative ? 1 : ABSOLUTE.tau);
export const LIMITS = { absolute: [0.0001, 0.5], relative: [0.1, 10] } as const; // of sliders

const MOST_WEIGHTS = 4e9; // that are read for one number: about ten seconds

export interface ThresholdOptions {
  tau: number | null; // null: the default of its kind
  relative: boolean;
}

export const thresholdOptions: Schema<ThresholdOptions> = {
  tau: optional(real(ABSOLUTE.tau, Number.MIN_VALUE, Number.MAX_VALUE)),
  relative: flag(),
};

/** Whether weights are too many to count again: then only what was counted when recording is known, at `ABSOLUTE`. */
export function isTooLong(maps: readonly MapDescription[]): boolean {
  return maps.reduce((sum, { heads, queries, keys }) => sum + heads * queries * keys, 0) > MOST_WEIGHTS;
}

export function readThreshold(texts: OptionTexts, maps: readonly MapDescription[]): Threshold {
  if (isTooLong(maps)) return ABSOLUTE;
  const { tau, relative } = readOptions("numbers", thresholdOptions, texts);
  return { tau: tau ?? standardTau(relative), relative };
}

/** The options with another τ. */
export function writeTau(texts: OptionTexts, tau: number): OptionTexts {
  const { relative } = readOptions("numbers", thresholdOptions, texts);
  const written = tau === standardTau(relative) ? null : tau;
  return writeOptions("numbers", thresholdOptions, texts, { tau: written });
}

/** The options with a threshold of the other kind, which begins at its own default. */
export function writeRelative(texts: OptionTexts, relative: boolean): OptionTexts {
  return writeOptions("numbers", thresholdOptions, texts, { tau: null, relative });
}

/** The parameters of a metric that takes a threshold. */
export function thresholdParameters(
  metric: MetricDescription,
  { tau, relative }: Threshold,
): Readonly<Record<string, string>> {
  const names = metric.parameters.map(({ name }) => name);
  return names.includes("threshold") && names.includes("relative")
    ? { threshold: String(tau), relative: String(relative) }
    : {};
}
