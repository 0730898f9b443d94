/**
 * Arrows in a plane, from the origin.
 *
 * In:   PlayPoints.
 * Out:  Drawn: a square with circles for distance, and a cell for each arrow.
 */

import type { PlayPoints } from "../../api/types";
import { digits, round } from "../../core/formats";
import { linear } from "../../core/maths/scale";
import { draw, drawText } from "../../marks/make";
import { beginFigure, colourOf, type Drawn, type Look, shorten } from "./drawing";

const LARGEST = 420;
const PADDING = 40; // for labels at the sides
const EDGE = 16; // above and below

export function drawPoints(figure: PlayPoints, look: Look): Drawn {
  const { arrows, groups, reach } = figure;
  const series = groups.map((name) => ({ name }));
  const { element, top } = beginFigure("points-figure", series, look);
  const side = Math.min(LARGEST, look.width);
  const across = linear([-reach, reach], [PADDING, side - PADDING]);
  const tall = side - 2 * PADDING + 2 * EDGE; // the same unit on both axes
  const up = linear([-reach, reach], [top + tall - EDGE, top + EDGE]);
  const written: (readonly [number, number])[] = []; // labels never lie on one another
  for (const value of across.ticks(4).filter((each) => each > 0)) {
    element.append(
      draw("circle", {
        cx: across(0),
        cy: up(0),
        r: across(value) - across(0),
        fill: "none",
        stroke: look.inks.line,
      }),
      drawText(round(value), across(0) + 3, up(value) + 11, look.inks.faint, "start", { "font-size": 10 }),
    );
  }
  element.append(
    draw("line", { x1: across(-reach), x2: across(reach), y1: up(0), y2: up(0), stroke: look.inks.line }),
    draw("line", { x1: across(0), x2: across(0), y1: up(-reach), y2: up(reach), stroke: look.inks.line }),
  );
  for (const { label, x, y, group } of arrows) {
    const colour = colourOf(group, groups.length, look);
    const [ax, ay] = [across(x), up(y)];
    const away = Math.hypot(x, y) || 1;
    const [lx, ly] = [ax + (10 * x) / away, ay - (10 * y) / away];
    const anchor = x > 0.2 * away ? "start" : x < -0.2 * away ? "end" : "middle";
    element.append(
      draw("line", { x1: across(0), y1: up(0), x2: ax, y2: ay, stroke: colour, "stroke-width": 1.75 }),
      draw("circle", { cx: ax, cy: ay, r: 3.5, fill: colour, "data-arrow": label }),
    );
    if (written.some(([ox, oy]) => Math.abs(ox - lx) < 24 && Math.abs(oy - ly) < 12)) continue;
    written.push([lx, ly]);
    element.append(drawText(shorten(label, 60), lx, ly + 4, look.inks.ink, anchor));
  }
  return {
    element,
    height: top + tall,
    rows: 1,
    columns: arrows.length,
    spot: (_, column) => {
      const arrow = arrows[column];
      if (!arrow) return null;
      const group = groups.length > 1 ? `${look.text(groups[arrow.group]!)} · ` : "";
      return {
        x: across(arrow.x) - 6,
        y: up(arrow.y) - 6,
        width: 12,
        height: 12,
        text: `${group}${arrow.label}: (${digits(arrow.x, 3)}, ${digits(arrow.y, 3)})`,
      };
    },
    at: (px, py) => {
      let best = -1;
      let least = 24;
      arrows.forEach((arrow, at) => {
        const away = Math.hypot(across(arrow.x) - px, up(arrow.y) - py);
        if (away < least) [least, best] = [away, at];
      });
      return best < 0 ? null : [0, best];
    },
  };
}
