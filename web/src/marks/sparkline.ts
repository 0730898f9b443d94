/**
 * A line the size of a word: how a number goes along a text; and a strip that shows where a column's values lie.
 *
 * In:   values, size, inks.
 * Out:  small SVG elements. More values than pixels are drawn as the band between their least and largest.
 */

import { figure } from "../core/formats";
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
  const up = vertical(look);
  if (values.length > width) {
    svg.append(draw("path", { d: band(values, width, up), fill: ink }));
  } else {
    svg.append(
      draw("path", {
        d: line(values, width, up),
        fill: "none",
        stroke: ink,
        "stroke-width": 1.25,
        "stroke-linejoin": "round",
      }),
    );
  }
  const marked = look.mark === null || look.mark === undefined ? undefined : values[look.mark];
  if (marked !== undefined && Number.isFinite(marked)) {
    svg.append(
      draw("circle", {
        cx: place(look.mark!, values.length, width),
        cy: up(marked),
        r: 2.5,
        fill: look.markInk ?? ink,
      }),
    );
  }
  return svg;
}

/** Every value as a thin tick, so that crowds look dark; `mark` is the value to point out. */
export function drawStrip(values: readonly (number | null)[], look: Required<SparkLook>): SVGSVGElement {
  const { width, height, domain } = look;
  const svg = drawChart(width, height, null);
  svg.classList.add("strip");
  const size = domain[1] - domain[0] || 1;
  const across = (value: number) => 1 + ((value - domain[0]) / size) * (width - 2);
  const finite = values.filter((value): value is number => value !== null && Number.isFinite(value));
  const opacity = Math.max(0.12, Math.min(0.8, 14 / Math.max(1, finite.length)));
  const ticks = finite.map((value) => `M${figure(across(value), 1)} 1V${height - 1}`).join("");
  svg.append(draw("path", { d: ticks, stroke: look.ink, "stroke-width": 1, "stroke-opacity": opacity }));
  if (look.mark !== null && Number.isFinite(look.mark)) {
    svg.append(
      draw("path", {
        d: `M${figure(across(look.mark), 1)} 0V${height}`,
        stroke: look.markInk,
        "stroke-width": 2,
      }),
    );
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

function vertical({ height, domain }: SparkLook): (value: number) => number {
  const size = domain[1] - domain[0] || 1;
  return (value) => height - 1.5 - ((value - domain[0]) / size) * (height - 3);
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
    let [low, high] = [Infinity, -Infinity];
    for (let at = from; at < to; at++) {
      const value = values[at]!;
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (low > high) continue;
    const top = up(high);
    path += `M${pixel} ${figure(top, 1)}h1V${figure(Math.max(up(low), top + 1), 1)}h-1z`;
  }
  return path;
}
