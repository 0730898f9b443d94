/**
 * A line the size of a word: how a number goes along a text; and a strip that shows where a column's values lie.
 *
 * In:   values, size, inks.
 * Out:  small SVG elements. More values than pixels are drawn as the band between their least and largest.
 */

import { figure } from "../core/formats";
import { linear } from "../core/maths/scale";
import { draw, drawChart } from "./make";

export interface SparkLook {
  readonly width: number;
  readonly height: number;
  readonly ink: string;
  readonly domain: readonly [number, number]; // shared by all lines that are compared
  readonly mark?: number | null; // the value to point out, by its number
  readonly markInk?: string;
}

/** One line over values start … of an array; what is not finite is a gap. */
export function drawSparkline(values: ArrayLike<number>, look: SparkLook): SVGSVGElement {
  const { width, height, ink } = look;
  const svg = drawChart(width, height, null);
  svg.classList.add("sparkline");
  const up = linear(look.domain, [height - 1.5, 1.5]);
  const stroke = { fill: "none", stroke: ink, "stroke-width": 1.25, "stroke-linejoin": "round" };
  const path =
    values.length > width
      ? { d: band(values, width, up), fill: ink }
      : { d: line(values, width, up), ...stroke };
  svg.append(draw("path", path));
  const marked = look.mark === null || look.mark === undefined ? undefined : values[look.mark];
  if (marked !== undefined && Number.isFinite(marked)) {
    const cx = place(look.mark!, values.length, width);
    svg.append(draw("circle", { cx, cy: up(marked), r: 2.5, fill: look.markInk ?? ink }));
  }
  return svg;
}

/** Every value as a thin tick, so that crowds look dark; `mark` is the value to point out. */
export function drawStrip(values: readonly (number | null)[], look: Required<SparkLook>): SVGSVGElement {
  const { width, height, domain } = look;
  const svg = drawChart(width, height, null);
  svg.classList.add("strip");
  const across = linear(domain, [1, width - 1]);
  const finite = values.filter((value): value is number => value !== null && Number.isFinite(value));
  const opacity = Math.max(0.12, Math.min(0.8, 14 / Math.max(1, finite.length)));
  const ticks = finite.map((value) => `M${figure(across(value), 1)} 1V${height - 1}`).join("");
  svg.append(draw("path", { d: ticks, stroke: look.ink, "stroke-width": 1, "stroke-opacity": opacity }));
  if (look.mark !== null && Number.isFinite(look.mark)) {
    const d = `M${figure(across(look.mark), 1)} 0V${height}`;
    svg.append(draw("path", { d, stroke: look.markInk, "stroke-width": 2 }));
  }
  return svg;
}

/** The least and the largest finite value; null where there is none. */
export function reach(values: Iterable<number | null>): readonly [number, number] | null {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : null;
}

function place(at: number, count: number, width: number): number {
  return count < 2 ? width / 2 : 1 + (at / (count - 1)) * (width - 2);
}

function line(values: ArrayLike<number>, width: number, up: (value: number) => number): string {
  let path = "";
  let pen = false;
  for (let at = 0; at < values.length; at++) {
    const value = values[at]!;
    const x = figure(place(at, values.length, width), 1);
    if (Number.isFinite(value))
      path += `${pen ? "L" : "M"}${x} ${figure(up(value), 1)}${values.length === 1 ? "h2" : ""}`;
    pen = Number.isFinite(value);
  }
  return path;
}

/** For every pixel the span from least to largest, at least a hair. */
function band(values: ArrayLike<number>, width: number, up: (value: number) => number): string {
  let path = "";
  for (let pixel = 0; pixel < width; pixel++) {
    const from = Math.floor((pixel * values.length) / width);
    const to = Math.max(from + 1, Math.floor(((pixel + 1) * values.length) / width));
    const span = reach(Array.from({ length: to - from }, (_, at) => values[from + at]!));
    if (span === null) continue;
    const [low, top] = span.map(up) as [number, number];
    path += `M${pixel} ${figure(top, 1)}h1V${figure(Math.max(low, top + 1), 1)}h-1z`;
  }
  return path;
}
