/**
 * Options of the heat map: the scale of colours, how cells are pooled, which keys are left out, the part in view.
 *
 * In:   options, the selection.
 * Out:  how the map is drawn.
 */

import type { Description } from "../../api/types";
import { cameraOption } from "../../core/linked_camera";
import { chooseMap } from "../../core/maps";
import { oneOf, optional, type Schema } from "../../core/options";
import type { Selection } from "../../core/selection";
import { type How, type Scale, wayOf } from "../../data/heat_tiles";
import type { RendererChoice } from "../../marks/heat_surface";

export interface HeatmapOptions {
  readonly scale: Scale | null; // null: the usual one of the map
  readonly pool: How;
  readonly leave: "none" | "first" | "special"; // keys that are left out
  readonly at: string | null; // the part of the map in view, as `writeCamera` says it
  readonly renderer: RendererChoice;
}

export const options: Schema<HeatmapOptions> = {
  scale: optional(oneOf(["absolute", "map", "row"], "absolute")),
  pool: oneOf(["mean", "max"], "mean"),
  leave: oneOf(["none", "first", "special"], "none"),
  at: cameraOption(),
  renderer: oneOf(["auto", "webgl", "canvas"], "auto"),
};

/** Short maps from 0 to 1; means over many tokens are tiny and signed values have no bound: up to their largest. */
export function usualScale(selection: Selection, description: Description): Scale {
  const map = chooseMap(description, selection);
  return map !== null && map.content === "weights" && wayOf(map, 0) === "dense" ? "absolute" : "map";
}
