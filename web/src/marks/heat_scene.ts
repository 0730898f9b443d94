/**
 * What the surface draws of the map on show.
 *
 * In:   the viewport over it, the theme, device pixels per CSS pixel.
 * Out:  a Scene.
 */

import { type Colour, type Mask, type Placement, type Scene, type Top, unitOf } from "../core/heat";
import type { Theme } from "../core/view";
import { diverging, sequential } from "./colours";
import type { Viewport } from "./heat_viewport";

const HATCH: Readonly<Record<Theme, readonly [Colour, Colour]>> = {
  light: [
    [248, 248, 250],
    [222, 224, 231],
  ],
  dark: [
    [25, 28, 35],
    [52, 57, 68],
  ],
};

/** What is known of the map now. */
export interface ShownCells {
  readonly placements: readonly Placement[];
  readonly top: Top;
  readonly mask: Mask;
  readonly signed: boolean;
}

/** The colours of weights, or of signed values. */
export function tableOf({ signed }: Pick<ShownCells, "signed">, theme: Theme): Uint8Array {
  return signed ? diverging(theme) : sequential(theme);
}

export function sceneOf(shown: ShownCells, viewport: Viewport, theme: Theme, ratio: number): Scene {
  const { placements, top, mask, signed } = shown;
  const seen = viewport.scaled(ratio);
  return {
    ...seen,
    width: Math.max(1, Math.round(seen.width)),
    height: Math.max(1, Math.round(seen.height)),
    placements,
    top,
    mask,
    unit: signed ? unitOf(placements, top) : 1,
    table: tableOf(shown, theme),
    hatch: HATCH[theme],
  };
}
