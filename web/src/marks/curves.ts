/**
 * Curves over training steps: several lines in one plot, events as marks above it, a line at the step in focus.
 *
 * In:   curves (step, value; where a point is of many steps, also its lowest and highest value), the span of steps that is
 *       shown, straight or logarithmic axes.
 * Out:  an SVG picture; on the page the lines on a canvas below an SVG of axes and marks, since they move with the pointer.
 *       Where a pixel covers several points, the least and the largest of them are drawn: no peak is lost.
 */

import { count, figure, round } from "../core/formats";
import { linear, logarithmic, type Scale } from "../core/maths/scale";
import { lowerBound } from "../core/maths/search";
import { clearCanvas } from "./canvas";
import { draw, drawChart, drawText } from "./make";
import type { Inks } from "./paper";
import { textWidth } from "./text";

type Numbers = ArrayLike<number | null>; // null, NaN: a gap

export interface Curve {
  readonly name: string;
  readonly ink: string;
  readonly steps: ArrayLike<number>;
  readonly values: Numbers;
  readonly low?: Numbers | undefined; // of what each point covers
  readonly high?: Numbers | undefined;
  readonly dashed?: boolean;
  readonly faint?: boolean; // what lies behind a smoothed curve; not in the legend
  readonly wide?: boolean; // the one in focus
}

export interface CurveMark {
  readonly step: number;
  readonly until?: number | undefined; // it lasted to this step
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
  readonly legend?: readonly Named[] | undefined; // instead of the curves' own names
}

/** Where everything lies. */
export interface CurvePlan {
  readonly look: CurveLook;
  readonly across: Scale; // from steps to pixels
  readonly up: Scale;
  readonly lines: readonly PlannedLine[];
}

interface PlannedLine {
  readonly curve: Curve;
  readonly line: Points;
  readonly band: readonly [low: Points, high: Points] | null;
}

/** Points in steps and values; NaN is a gap. */
export interface Points {
  readonly steps: readonly number[];
  readonly values: readonly number[];
}

export interface DrawnCurves {
  readonly element: SVGSVGElement;
  readonly across: Scale;
}

const [LEFT, RIGHT, TOP, BELOW] = [48, 10, 30, 22]; // margins
const MANY = 4; // curves whose bands would hide each other
const TITLE = { "font-size": 12, "font-weight": 600 };

export function planCurves(curves: readonly Curve[], look: CurveLook): CurvePlan {
  const { width, height, logX, logY } = look;
  const [first, last] = look.span;
  const start = logX ? Math.max(1, first) : first;
  const across = (logX ? logarithmic : linear)([start, Math.max(last, start + 1)], [LEFT, width - RIGHT]);
  const lines = curves.map((curve): PlannedLine => {
    const { steps, values, low, high } = curve;
    const line = thin({ steps, values }, across, logY);
    if (!low || !high) return { curve, line, band: null };
    return {
      curve,
      line,
      band: [
        thin({ steps, values: low }, across, logY, "least"),
        thin({ steps, values: high }, across, logY, "largest"),
      ],
    };
  });
  let [least, largest] = [Infinity, -Infinity];
  for (const { line, band } of lines)
    for (const { values } of [line, ...(band ?? [])])
      for (const value of values) {
        if (value < least) least = value;
        if (value > largest) largest = value;
      }
  const reach = least <= largest ? ([least, largest] as const) : null;
  return { look, across, up: verticalScale(reach, logY, [height - BELOW, TOP]), lines };
}

/** All of it as one picture. */
export function drawCurves(curves: readonly Curve[], look: CurveLook): DrawnCurves {
  const plan = planCurves(curves, look);
  const element = drawFrame(plan);
  const { across, up, lines } = plan;
  const before = element.querySelector("[data-marks]");
  for (const { curve, line, band } of lines) {
    if (band) {
      const path = pathOf(outline(band), across, up);
      element.insertBefore(
        draw("path", { d: path, fill: curve.ink, "fill-opacity": shade(lines.length) }),
        before,
      );
    }
    const path = draw("path", {
      d: pathOf(line, across, up),
      fill: "none",
      stroke: curve.ink,
      "stroke-width": curve.wide ? 2.5 : 1.5,
      "stroke-linejoin": "round",
      "stroke-dasharray": curve.dashed ? "5 3" : null,
      "stroke-opacity": curve.faint ? 0.3 : null,
      "data-curve": curve.name,
    });
    element.insertBefore(path, before);
    if (line.steps.length === 1) {
      const at = { cx: across(line.steps[0]!), cy: up(line.values[0]!) };
      element.insertBefore(draw("circle", { ...at, r: 2.5, fill: curve.ink }), before);
    }
  }
  return { element, across };
}

/** Title, legend, axes and marks: everything but the lines. */
export function drawFrame({ look, across, up, lines }: CurvePlan): SVGSVGElement {
  const { width, height, title, inks } = look;
  const element = drawChart(width, height, title, drawText(title, 2, 14, inks.ink, "start", TITLE));
  element.append(
    ...drawLegend(
      lines.map(({ curve }) => curve),
      look,
    ),
    ...drawAxes(across, up, look),
    drawMarks(across, look),
  );
  return element;
}

/** The lines on a canvas as large as the picture. */
export function paintCurves(canvas: HTMLCanvasElement, { look, across, up, lines }: CurvePlan): void {
  const context = clearCanvas(canvas, look.width, look.height, true);
  if (!context) return;
  context.beginPath();
  context.rect(LEFT - 1, TOP - 2, look.width - LEFT - RIGHT + 2, look.height - TOP - BELOW + 4);
  context.clip();
  context.lineJoin = "round";
  for (const { curve, line, band } of lines) {
    context.strokeStyle = context.fillStyle = curve.ink;
    if (band) {
      context.globalAlpha = shade(lines.length);
      trace(context, outline(band), across, up);
      context.fill();
    }
    context.globalAlpha = curve.faint ? 0.3 : 1;
    context.lineWidth = curve.wide ? 2.5 : 1.5;
    context.setLineDash(curve.dashed ? [5, 3] : []);
    trace(context, line, across, up);
    context.stroke();
    if (line.steps.length === 1) {
      context.beginPath();
      context.arc(across(line.steps[0]!), up(line.values[0]!), 2.5, 0, 7);
      context.fill();
    }
  }
}

function shade(curves: number): number {
  return curves > MANY ? 0.09 : 0.2;
}

/** The lower side and back along the upper one; a gap of one side is one of both. */
function outline([low, high]: readonly [Points, Points]): Points {
  const known = low.steps.map((_, at) => at).filter((at) => !Number.isNaN(low.values[at]!));
  const back = high.steps
    .map((_, at) => at)
    .filter((at) => !Number.isNaN(high.values[at]!))
    .reverse();
  return {
    steps: [...known.map((at) => low.steps[at]!), ...back.map((at) => high.steps[at]!)],
    values: [...known.map((at) => low.values[at]!), ...back.map((at) => high.values[at]!)],
  };
}

function trace(context: CanvasRenderingContext2D, { steps, values }: Points, across: Scale, up: Scale): void {
  context.beginPath();
  let pen = false;
  for (let at = 0; at < steps.length; at++) {
    const value = values[at]!;
    if (Number.isNaN(value)) pen = false;
    else if (pen) context.lineTo(across(steps[at]!), up(value));
    else {
      context.moveTo(across(steps[at]!), up(value));
      pen = true;
    }
  }
}

/** Points inside the span: at most the least and the largest of every pixel (or one of them), in their order. */
export function thin(
  { steps, values }: Pick<Curve, "steps" | "values">,
  across: Scale,
  positive: boolean,
  only: "least" | "largest" | "both" = "both",
): Points {
  const [first, last] = across.domain;
  const from = Math.max(0, lowerBound(steps, first) - 1); // a line comes in from the left
  const to = Math.min(steps.length, lowerBound(steps, last + 1e-9) + 1);
  const kept: { steps: number[]; values: number[] } = { steps: [], values: [] };
  const keep = (at: number, value: number): void => {
    kept.steps.push(steps[at]!);
    kept.values.push(value);
  };
  let pixel = Number.NaN;
  let [least, largest] = [-1, -1]; // of this pixel, by index
  const flush = (): void => {
    if (least < 0) return;
    const pair = only === "least" ? [least] : only === "largest" ? [largest] : [least, largest];
    if (pair.length === 2 && least > largest) pair.reverse();
    keep(pair[0]!, values[pair[0]!]!);
    if (pair.length === 2 && least !== largest) keep(pair[1]!, values[pair[1]!]!);
    [least, largest] = [-1, -1];
  };
  for (let at = from; at < to; at++) {
    const value = values[at] ?? Number.NaN;
    if (!Number.isFinite(value) || (positive && value <= 0)) {
      flush();
      if (kept.values.length > 0 && !Number.isNaN(kept.values.at(-1))) keep(at, Number.NaN);
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
  return kept;
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
  const value = values[at] ?? Number.NaN;
  return [steps[at]!, Number.isNaN(value) ? null : value];
}

function verticalScale(
  reach: readonly [number, number] | null,
  log: boolean,
  range: readonly [number, number],
): Scale {
  const [low, high] = reach ?? (log ? [1, 10] : [0, 1]);
  if (log) return logarithmic(high > low ? [low, high] : [low / 2, high * 2], range);
  const slack = high > low ? (high - low) * 0.05 : Math.abs(high) * 0.1 || 1;
  return linear([low >= 0 && low < slack ? 0 : low - slack, high + slack], range);
}

/** The name of a step below the axis, inside of the picture. */
export function drawTick(text: string, x: number, y: number, ink: string, width: number): SVGTextElement {
  return x + textWidth(text, 11) / 2 > width
    ? drawText(text, width, y, ink, "end")
    : drawText(text, x, y, ink, "middle");
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
    .map((step) => drawTick(count(step), across(step), height - 5, inks.soft, width));
  return [...lines, ...names];
}

type Named = Pick<Curve, "name" | "ink" | "dashed">;

/** What a legend names, and where it begins beside the title; null: it does not fit there. */
function placeLegend(
  curves: readonly Curve[],
  { width, title, legend }: CurveLook,
): { readonly named: readonly Named[]; readonly rooms: readonly number[]; readonly x: number | null } {
  const all = legend ?? curves.filter(({ faint }) => !faint);
  const named = all.length < 2 ? [] : all;
  const rooms = named.map(({ name }) => textWidth(name, 11) + 34);
  const x = width - RIGHT - rooms.reduce((sum, room) => sum + room, 0) + 10;
  return { named, rooms, x: x < 1.2 * textWidth(title, 12) + 12 ? null : x };
}

/** The names of a legend that does not fit beside the title, to be written below the chart. */
export function namesBelow({ look, lines }: CurvePlan): readonly Named[] {
  const { named, x } = placeLegend(
    lines.map(({ curve }) => curve),
    look,
  );
  return x === null ? named : [];
}

/** Names at the top right, where all of them fit beside the title. */
function drawLegend(curves: readonly Curve[], look: CurveLook): SVGElement[] {
  const { named, rooms, x: start } = placeLegend(curves, look);
  if (start === null) return [];
  let x = start;
  return named.flatMap(({ name, ink, dashed }, at) => {
    const line = { x1: x, x2: x + 14, y1: 10, y2: 10, stroke: ink, "stroke-width": 2 };
    const parts = [
      draw("line", { ...line, "stroke-dasharray": dashed ? "4 2" : null }),
      drawText(name, x + 18, 14, look.inks.soft),
    ];
    x += rooms[at]!;
    return parts;
  });
}

function pathOf({ steps, values }: Points, across: Scale, up: Scale): string {
  let path = "";
  let pen = false;
  steps.forEach((step, at) => {
    const value = values[at]!;
    if (!Number.isNaN(value)) {
      const x = across(Math.min(across.domain[1], Math.max(across.domain[0], step)));
      path += `${pen ? "L" : "M"}${figure(x, 1)} ${figure(up(value), 1)}`;
    }
    pen = !Number.isNaN(value);
  });
  return path;
}

/** A triangle where something began, a bar as long as it lasted. */
function drawMarks(across: Scale, { marks, focus, inks, height }: CurveLook): SVGGElement {
  const [first, last] = across.domain;
  const group = draw("g", { "data-marks": true });
  for (const { step, until = step, text, ink } of marks) {
    if (until < first || step > last) continue;
    const x = figure(across(Math.max(first, step)), 1);
    const end = figure(across(Math.min(last, Math.max(until, first))), 1);
    const bar = until > step ? `M${x} ${TOP - 6}H${end}v2H${x}z` : "";
    const triangle = step >= first ? `M${x} ${TOP + 1}l-4 -7h8z` : "";
    group.append(draw("path", { d: triangle + bar, fill: ink }, draw("title", {}, text)));
  }
  if (focus !== null && focus >= first && focus <= last) {
    const x = across(focus);
    group.append(draw("line", { x1: x, x2: x, y1: TOP, y2: height - BELOW, stroke: inks.accent }));
  }
  return group;
}
