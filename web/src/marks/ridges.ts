/**
 * Distributions one behind the other: a ridge for each layer, all on one axis.
 *
 * In:   a distribution a layer, or nothing while it is on its way.
 * Out:  an SVG group; ridges carry the number of their layer.
 */

import type { Distribution } from "../api/types";
import { figure, round } from "../core/formats";
import { linear } from "../core/maths/scale";
import { extent } from "./histogram";
import { draw, drawText } from "./make";
import type { Inks } from "./paper";

export interface RidgeLook {
  readonly width: number;
  readonly inks: Inks;
  readonly chosen: number;
  readonly axis: string;
}

const STEP = 22;
const TALL = 40; // ridges may reach into the row above
const LEFT = 34;

export function ridgesHeight(layers: number): number {
  return TALL + layers * STEP + 36;
}

export function drawRidges(distributions: readonly (Distribution | null)[], look: RidgeLook): SVGGElement {
  const { width, inks, chosen: choice, axis } = look;
  const group = draw("g", { class: "ridges" });
  const here = distributions.filter((each): each is Distribution => each !== null);
  const across = linear(extent(here), [LEFT, width - 8]);
  const bottom = TALL + distributions.length * STEP;
  for (const value of across.ticks(5)) {
    group.append(
      draw("line", { x1: across(value), x2: across(value), y1: TALL / 2, y2: bottom, stroke: inks.line }),
      drawText(round(value), across(value), bottom + 15, inks.soft, "middle"),
    );
  }
  distributions.forEach((distribution, layer) => {
    const base = TALL + (layer + 1) * STEP - 4;
    const chosen = layer === choice;
    const look = { "font-weight": chosen ? 600 : 400 };
    group.append(drawText(layer, LEFT - 8, base, chosen ? inks.accent : inks.soft, "end", look));
    if (distribution === null || distribution.count === 0) return;
    const { counts, edges } = distribution;
    const most = Math.max(...counts, 1);
    const points = counts.map((count, at) => {
      const x = across((edges[at]! + edges[at + 1]!) / 2);
      return `${figure(x, 1)} ${figure(base - (count / most) * (TALL - 6), 1)}`;
    });
    const ridge = `M${figure(across(edges[0]!), 1)} ${base}L${points.join("L")}L${figure(across(edges.at(-1)!), 1)} ${base}`;
    group.append(
      draw("path", { d: `${ridge}z`, fill: inks.ground, "fill-opacity": 0.75 }),
      draw("path", {
        d: ridge,
        fill: chosen ? inks.accent : "none",
        "fill-opacity": 0.25,
        stroke: chosen ? inks.accent : inks.faint,
        "stroke-width": chosen ? 2 : 1,
        "data-layer": layer,
      }),
    );
  });
  group.append(drawText(axis, (LEFT + width) / 2, bottom + 31, inks.soft, "middle"));
  return group;
}
