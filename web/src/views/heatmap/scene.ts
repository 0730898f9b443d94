/**
 * What the surface draws of the map on show.
 *
 * In:   the lens over it, the theme, device pixels per CSS pixel.
 * Out:  a Scene.
 */

import type { Colour, Scene } from "../../core/heat";
import type { Theme } from "../../core/view";
import { sequential } from "../../marks/colours";
import type { Lens } from "./lens";
import type { ShownMap } from "./shown_map";

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

export function sceneOf({ placements, top, mask }: ShownMap, lens: Lens, theme: Theme, ratio: number): Scene {
  const seen = lens.scaled(ratio);
  return {
    ...seen,
    width: Math.max(1, Math.round(seen.width)),
    height: Math.max(1, Math.round(seen.height)),
    placements,
    top,
    mask,
    table: sequential(theme),
    hatch: HATCH[theme],
  };
}
