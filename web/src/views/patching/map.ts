/**
 * The patching map: layers by tokens (or heads), normalised as in the literature.
 *
 * In:   the steps of a job, one for each layer.
 * Out:  shares of the answer that are restored: 0 is the outcome of the corrupted text, 1 that of the clean one.
 */

import type { PatchingStep } from "../../api/types";

export interface Cell {
  readonly value: number | null; // of the outcome
  readonly share: number | null; // that is restored
}

export interface PatchingMap {
  readonly outcome: PatchingStep["outcome"]; // what is measured
  readonly clean: number;
  readonly corrupted: number;
  readonly layers: number; // how many will come
  readonly tokens: readonly (readonly [clean: string, corrupted: string])[];
  readonly rows: readonly { readonly layer: number; readonly cells: readonly Cell[] }[];
  readonly same: boolean; // both texts have one outcome
}

export function readMap(steps: readonly PatchingStep[]): PatchingMap | null {
  const [first] = steps;
  if (!first) return null;
  const [clean, corrupted] = [first.clean ?? Number.NaN, first.corrupted ?? Number.NaN];
  const reach = clean - corrupted;
  const same = !(Math.abs(reach) > 1e-6 * Math.max(1, Math.abs(clean)));
  const share = (value: number | null): number | null =>
    value === null || same ? null : (value - corrupted) / reach;
  return {
    outcome: first.outcome,
    clean,
    corrupted,
    layers: first.layers,
    tokens: first.clean_tokens.map((text, at) => [text, first.corrupted_tokens[at]!]),
    rows: steps.map(({ layer, values }) => ({
      layer,
      cells: values.map((value) => ({ value, share: share(value) })),
    })),
    same,
  };
}
