/**
 * Curves over training steps: several lines in one plot, events as marks above it, a line at the step in focus.
 *
 * In:   curves (step, value), the span of steps that is shown, straight or logarithmic axes.
 * Out:  an SVG picture. Where a pixel covers several points, the least and the largest of them are drawn: no peak is lost.
 */

import { count, figure, round } from "../core/formats";
import { linear, logarithmic, type Scale } from "../core/maths/scale";
import { lowerBound } from "../core/maths/search";
import { draw, drawChart, drawText } from "./make";
import type { Inks } from "./paper";
import { reach } from "./sparkline";
import { textWidth } from "./text";

export interface Curve {
  readonly name: string;
  readonly ink: string;
  readonly steps: readonly number[];
  readonly values: readonly (number | null)[];
  readonly dashed?: boolean;
  readonly faint?: boolean; // what lies behind a smoothed curve; not in the legend
  readonly wide?: boolean; // the one in focus
}

export interface CurveMark {
  readonly step: number;
  readonly text: string;
  readonly ink: string;
}

export interface CurveLook {
  readonly width: number;
  readonly height: number;
  readonly inks: Inks;
  readonly title: string;
  readonly span: readonly [first: number, last: number]; // steps
  readonly logX: boolean;
  readonly logY: boolean;
  readonly marks: readonly CurveMark[];
  readonly focus: number | null; // a step
  readonly legend?: readonly Pick<Curve, "name" | "ink" | "dashed">[]; // instead of the curves' own names
}

export interface DrawnCurves {
  readonly element: SVGSVGElement;
  readonly across: Scale; // from steps to pixels
}

const [LEFT, RIGHT, TOP, BELOW] = [48, 10, 30, 22]; // margins

export function drawCurves(curves: readonly Curve[], look: CurveLook): DrawnCurves {
  const { width, height, inks, logX, logY, title } = look;
  const [first, last] = look.span;
  const start = logX ? Math.max(1, first) : first;
  const across = (logX ? logarithmic : linear)([start, Math.max(last, start + 1)], [LEFT, width - RIGHT]);
  const plotted = curves.map((curve) => ({ curve, points: thin(curve, across, logY) }));
  const up = verticalScale(
    plotted.flatMap(({ points }) => points.map(([, value]) => value)),
    logY,
    [height - BELOW, TOP],
  );
  const element = drawChart(width, height, title, drawText(title, 2, 14, inks.ink, "start", TITLE));
  element.append(...drawLegend(curves, look), ...drawAxes(across, up, look));
  for (const { curve, points } of plotted) {
    element.append(
      draw("path", {
        d: pathOf(points, across, up),
        fill: "none",
        stroke: curve.ink,
        "stroke-width": curve.wide ? 2.5 : 1.5,
        "stroke-linejoin": "round",
        "stroke-dasharray": curve.dashed ? "5 3" : null,
        "stroke-opacity": curve.faint ? 0.3 : null,
        "data-curve": curve.name,
      }),
    );
    if (points.length === 1) {
      const [step, value] = points[0]!;
      element.append(draw("circle", { cx: across(step), cy: up(value!), r: 2.5, fill: curve.ink }));
    }
  }
  element.append(...drawMarks(across, look));
  return { element, across };
}

const TITLE = { "font-size": 12, "font-weight": 600 };

/** Points inside the span: at most the least and the largest of every pixel, in their order. Null: a gap. */
export function thin(
  { steps, values }: Pick<Curve, "steps" | "values">,
  across: Scale,
  positive: boolean,
): (readonly [step: number, value: number | null])[] {
  const [first, last] = across.domain;
  const from = Math.max(0, lowerBound(steps, first) - 1); // a line comes in from the left
  const to = Math.min(steps.length, lowerBound(steps, last + 1e-9) + 1);
  const points: (readonly [number, number | null])[] = [];
  let pixel = Number.NaN;
  let [least, largest] = [-1, -1]; // of this pixel, by index
  const flush = (): void => {
    if (least < 0) return;
    for (const at of least === largest ? [least] : [Math.min(least, largest), Math.max(least, largest)])
      points.push([steps[at]!, values[at]!]);
    [least, largest] = [-1, -1];
  };
  for (let at = from; at < to; at++) {
    const value = values[at] ?? null;
    if (value === null || !Number.isFinite(value) || (positive && value <= 0)) {
      flush();
      if (points.length > 0 && points.at(-1)![1] !== null) points.push([steps[at]!, null]);
      continue;
    }
    const place = Math.floor(across(Math.max(steps[at]!, first)));
    if (place !== pixel) {
      flush();
      pixel = place;
    }
    if (least < 0 || value < values[least]!) least = at;
    if (largest < 0 || value > values[largest]!) largest = at;
  }
  flush();
  return points;
}

/** The measured point nearest to a step; null where there is none. */
export function valueNear(
  { steps, values }: Pick<Curve, "steps" | "values">,
  step: number,
): readonly [step: number, value: number | null] | null {
  if (steps.length === 0) return null;
  const after = Math.min(steps.length - 1, lowerBound(steps, step));
  const before = Math.max(0, after - 1);
  const at = Math.abs(steps[before]! - step) <= Math.abs(steps[after]! - step) ? before : after;
  return [steps[at]!, values[at] ?? null];
}

function verticalScale(
  values: readonly (number | null)[],
  log: boolean,
  range: readonly [number, number],
): Scale {
  const [low, high] = reach(values) ?? (log ? [1, 10] : [0, 1]);
  if (log) return logarithmic(high > low ? [low, high] : [low / 2, high * 2], range);
  const slack = high > low ? (high - low) * 0.05 : Math.abs(high) * 0.1 || 1;
  return linear([low >= 0 && low < slack ? 0 : low - slack, high + slack], range);
}

function drawAxes(across: Scale, up: Scale, { width, height, inks }: CurveLook): SVGElement[] {
  const lines = up.ticks(4).flatMap((value) => {
    const y = up(value);
    return [
      draw("line", { x1: LEFT, x2: width - RIGHT, y1: y, y2: y, stroke: inks.line }),
      drawText(round(value), LEFT - 6, y + 4, inks.soft, "end"),
    ];
  });
  const names = across
    .ticks(width < 420 ? 3 : 6)
    .map((step) => drawText(count(step), across(step), height - 5, inks.soft, "middle"));
  return [...lines, ...names];
}

/** Names at the top right, where all of them fit beside the title. */
function drawLegend(curves: readonly Curve[], { width, inks, title, legend }: CurveLook): SVGElement[] {
  const named = legend ?? curves.filter(({ faint }) => !faint);
  const rooms = named.map(({ name }) => textWidth(name, 11) + 34);
  let x = width - RIGHT - rooms.reduce((sum, room) => sum + room, 0) + 10;
  if (named.length < 2 || x < 1.2 * textWidth(title, 12) + 12) return [];
  return named.flatMap(({ name, ink, dashed }, at) => {
    const line = { x1: x, x2: x + 14, y1: 10, y2: 10, stroke: ink, "stroke-width": 2 };
    const parts = [
      draw("line", { ...line, "stroke-dasharray": dashed ? "4 2" : null }),
      drawText(name, x + 18, 14, inks.soft),
    ];
    x += rooms[at]!;
    return parts;
  });
}

function pathOf(points: readonly (readonly [number, number | null])[], across: Scale, up: Scale): string {
  let path = "";
  let pen = false;
  for (const [step, value] of points) {
    if (value !== null) {
      const x = across(Math.min(across.domain[1], Math.max(across.domain[0], step)));
      path += `${pen ? "L" : "M"}${figure(x, 1)} ${figure(up(value), 1)}`;
    }
    pen = value !== null;
  }
  return path;
}

function drawMarks(across: Scale, { marks, focus, inks, height }: CurveLook): SVGElement[] {
  const [first, last] = across.domain;
  const seen = marks.filter(({ step }) => step >= first && step <= last);
  const parts: SVGElement[] = seen.map(({ step, text, ink }) => {
    const x = figure(across(step), 1);
    return draw("path", { d: `M${x} ${TOP + 1}l-4 -7h8z`, fill: ink }, draw("title", {}, text));
  });
  if (focus !== null && focus >= first && focus <= last) {
    const x = across(focus);
    parts.push(draw("line", { x1: x, x2: x, y1: TOP, y2: height - BELOW, stroke: inks.accent }));
  }
  return parts;
}
