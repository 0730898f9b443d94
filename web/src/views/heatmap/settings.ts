/**
 * What the selection says about the heat map: the scale of colours, how cells are pooled, which keys are left out.
 *
 * In:   the selection.
 * Out:  Options; and changes of the selection.
 */

import type { Description } from "../../api/types";
import { chooseMap } from "../../core/maps";
import type { Selection, SelectionStore } from "../../core/selection";
import { type How, type Scale, wayOf } from "../../data/heat_supply";
import type { Leave } from "./shown_map";

export interface Options {
  readonly scale: Scale;
  readonly how: How;
  readonly leave: Leave;
}

export const AT = "heatmap.at"; // the part of the map in view

export function readOptions(selection: Selection, description: Description): Options {
  const { "heatmap.scale": scale, "heatmap.leave": leave, "heatmap.pool": pool } = selection.options;
  return {
    scale:
      scale === "absolute" || scale === "map" || scale === "row" ? scale : usualScale(selection, description),
    how: pool === "max" ? "max" : "mean",
    leave: leave === "first" || leave === "special" ? leave : "none",
  };
}

/** A choice; the usual one is not written down. */
export function chooseOption(
  store: SelectionStore,
  description: Description,
  name: "scale" | "pool" | "leave",
  value: string,
): void {
  const usual = { scale: usualScale(store.get(), description), pool: "mean", leave: "none" };
  store.option(`heatmap.${name}`, value === usual[name] ? null : value);
}

/** Short maps from 0 to 1; means over many tokens are tiny, so long maps up to their largest. */
function usualScale(selection: Selection, description: Description): Scale {
  const map = chooseMap(description, selection);
  return map !== null && wayOf(map, 0) === "dense" ? "absolute" : "map";
}
