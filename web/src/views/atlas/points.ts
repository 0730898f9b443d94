/**
 * Heads as points: those that behave alike lie close together.
 *
 * In:   heads with their points, how they are coloured.
 * Out:  an SVG; a point leads to its head. Keyboards use the maps, which have the same heads.
 */

import type { AtlasHead } from "../../api/types";
import { figure } from "../../core/formats";
import { draw, drawChart } from "../../marks/make";
import type { Colouring } from "./colouring";
import { layerOf } from "./map";
import type { Words } from "./words";

const EDGE = 12;

export interface PointsLook {
  readonly width: number;
  readonly height: number;
  readonly say: Words;
  readonly colouring: Colouring;
  readonly chosen: AtlasHead | null;
  readonly ink: string;
  readonly line: string;
  shown(head: AtlasHead): boolean;
  choose?(head: AtlasHead): void;
}

export function drawPoints(heads: readonly AtlasHead[], look: PointsLook): SVGSVGElement {
  const { width, height, say, colouring } = look;
  const place = (axis: 0 | 1, room: number): ((head: AtlasHead) => number) => {
    const values = heads.map(({ point }) => point[axis] ?? 0);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return ({ point }) => EDGE + ((room - 2 * EDGE) * ((point[axis] ?? 0) - low)) / (high - low || 1);
  };
  const [x, y] = [place(0, width), place(1, height)];
  const ordered = [...heads].sort((a, b) => Number(look.shown(a)) - Number(look.shown(b)));
  const dots = ordered.map((head) => {
    const chosen = head === look.chosen;
    const fill = colouring.fill(head);
    return draw(
      "circle",
      {
        cx: figure(x(head), 1),
        cy: figure(height - y(head), 1),
        r: chosen ? 8 : 5.5,
        fill: fill ?? "none",
        stroke: chosen ? look.ink : fill === null ? look.line : "none",
        "stroke-width": chosen ? 2.5 : 1.5,
        "fill-opacity": look.shown(head) ? 1 : 0.12,
        class: look.choose ? "dot" : "",
        onclick: () => look.choose?.(head),
      },
      draw("title", {}, say.cell(layerOf(head), head.head, colouring.describe(head))),
    );
  });
  return drawChart(width, height, say.behaviour, ...dots);
}
