/**
 * Curves over one axis, straight or logarithmic, with a dot for each measured point where there are few.
 *
 * In:   PlayLines; a point without a value is a gap.
 * Out:  Drawn, with a cell for each point.
 */

import type { PlayLines, PlaySeries } from "../../api/types";
import { digits, round } from "../../core/formats";
import { linear, logarithmic } from "../../core/maths/scale";
import { draw, drawText } from "../../marks/make";
import { figure as short } from "../../marks/paper";
import { beginFigure, colourOf, type Drawn, type Look } from "./drawing";

const TALL = 232; // of the plot
const DOTS = 40;

interface Axis {
  place(value: number): number;
  readonly ticks: readonly number[];
}

/** From values to pixels; a logarithmic axis is marked at its own values where those are few. */
function axis(
  values: readonly number[],
  range: readonly [number, number],
  kind: "linear" | "log",
  about: number,
  own: readonly number[] = [],
): Axis {
  const log = kind === "log";
  const usable = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
  let [low, high] = usable.length > 0 ? [Math.min(...usable), Math.max(...usable)] : log ? [1, 10] : [0, 1];
  if (high === low) [low, high] = log ? [low / 3, high * 3] : [low - 0.5, high + 0.5];
  const place = (log ? logarithmic : linear)([low, high], range);
  const few = log && own.length > 0 && own.length <= about + 3;
  return { place, ticks: few ? own : place.ticks(about) };
}

export function drawLines(figure: PlayLines, look: Look): Drawn {
  const { series, x } = figure;
  const { element, top: begin } = beginFigure("lines-figure", series, look);
  element.append(drawText(`↑ ${look.text(figure.y_title)}`, 0, begin + 12, look.inks.faint));
  const top = begin + 24;
  const [left, right, bottom] = [52, look.width - 20, top + TALL];
  const values = series.flatMap((each) => each.values.filter((value) => value !== null));
  const across = axis(x, [left, right], figure.x_scale, look.width < 420 ? 4 : 8, x);
  const upValues = figure.y_scale === "linear" && Math.min(...values) >= 0 ? [0, ...values] : values;
  const up = axis(upValues, [bottom, top], figure.y_scale, 5);
  drawFrame(element, look, { across, up, left, right, bottom });
  element.append(drawText(`${look.text(figure.x_title)} →`, right, bottom + 34, look.inks.faint, "end"));
  if (figure.mark !== null) {
    const at = across.place(figure.mark);
    const free = at > 120; // its number stands above the plot, but for the name of the axis there
    const anchor = at > right - 16 ? "end" : "middle"; // and stays inside
    const [stroke, dashes] = [look.inks.accent, { "stroke-dasharray": "3 3" }];
    const [x, y] = free ? [anchor === "end" ? look.width : at, top - 6] : [at + 4, top + 10];
    element.append(
      draw("line", { x1: at, x2: at, y1: top, y2: bottom, stroke, ...dashes }),
      drawText(round(figure.mark), x, y, stroke, free ? anchor : "start"),
    );
  }
  const height = (value: number) => (figure.y_scale === "log" && value <= 0 ? bottom : up.place(value));
  series.forEach((each, index) => {
    const colour = colourOf(index, series.length, look);
    const below = series.slice(index + 1).filter((other) => overlap(each, other, height)).length;
    element.append(
      draw("path", {
        d: path(each.values, x, across.place, height),
        fill: "none",
        stroke: colour,
        "stroke-width": 2 + 4 * below, // seen on both sides of those that lie on it
        "stroke-linejoin": "round",
        "stroke-dasharray": each.dashed ? "5 4" : null,
        "data-series": index,
      }),
    );
    if (x.length <= DOTS && !each.dashed)
      each.values.forEach((value, at) => {
        if (value === null) return;
        element.append(
          draw("circle", { cx: across.place(x[at]!), cy: height(value), r: 3 + 2 * below, fill: colour }),
        );
      });
  });
  return {
    element,
    height: bottom + 40,
    rows: series.length,
    columns: x.length,
    spot: (row, column) => {
      const each = series[row];
      const place = x[column];
      if (!each || place === undefined) return null;
      const value = each.values[column] ?? null;
      const name = series.length > 1 ? `${look.text(each.name)} · ` : "";
      return {
        x: across.place(place) - 5,
        y: (value === null ? bottom : height(value)) - 5,
        width: 10,
        height: 10,
        text: `${name}${look.text(figure.x_title)} ${round(place)}: ${value === null ? look.none : digits(value)}`,
      };
    },
    at: (px, py) => {
      if (px < left - 12 || py < top - 12 || py > bottom + 12) return null;
      return nearest(figure, px, py, across.place, height);
    },
  };
}

function drawFrame(
  element: SVGGElement,
  look: Look,
  plot: { across: Axis; up: Axis; left: number; right: number; bottom: number },
): void {
  const { across, up, left, right, bottom } = plot;
  for (const value of up.ticks) {
    const y = up.place(value);
    element.append(
      draw("line", { x1: left, x2: right, y1: y, y2: y, stroke: look.inks.line }),
      drawText(round(value), left - 6, y + 4, look.inks.soft, "end"),
    );
  }
  for (const value of across.ticks) {
    const at = across.place(value);
    element.append(
      draw("line", { x1: at, x2: at, y1: bottom, y2: bottom + 4, stroke: look.inks.faint }),
      drawText(round(value), at, bottom + 17, look.inks.soft, "middle"),
    );
  }
}

/** Whether two curves look like one. */
function overlap(one: PlaySeries, other: PlaySeries, height: (value: number) => number): boolean {
  return one.values.every((value, at) => {
    const against = other.values[at] ?? null;
    if (value === null || against === null) return value === against;
    return Math.abs(height(value) - height(against)) < 1;
  });
}

function path(
  values: readonly (number | null)[],
  x: readonly number[],
  across: (value: number) => number,
  up: (value: number) => number,
): string {
  let pen = false;
  let line = "";
  values.forEach((value, at) => {
    const place = x[at];
    if (value === null || place === undefined) {
      pen = false;
      return;
    }
    line += `${pen ? "L" : "M"}${short(across(place))} ${short(up(value))}`;
    pen = true;
  });
  return line;
}

function nearest(
  { series, x }: PlayLines,
  px: number,
  py: number,
  across: (value: number) => number,
  up: (value: number) => number,
): readonly [number, number] | null {
  let best: readonly [number, number] | null = null;
  let least = Infinity;
  series.forEach((each, row) => {
    each.values.forEach((value, column) => {
      const place = x[column];
      if (value === null || place === undefined) return;
      const away = Math.hypot(2 * (across(place) - px), up(value) - py);
      if (away < least) [least, best] = [away, [row, column]];
    });
  });
  return best;
}
