/**
 * A distribution as bars, on a linear or logarithmic count axis; a second one as an outline over it.
 *
 * In:   Distribution (edges, counts) from the API, size and inks.
 * Out:  an SVG group that works on the page and in saved pictures; `binAt` for hover.
 */

import type { Distribution } from "../api/types";
import { digits, figure, round, count as spell } from "../core/formats";
import { linear } from "../core/maths/scale";
import { draw, drawText } from "./make";
import type { Inks } from "./paper";
import { reach } from "./sparkline";

export interface HistogramLook {
  readonly width: number;
  readonly height: number;
  readonly inks: Inks;
  readonly log: boolean;
  readonly axis?: string; // what the values are
  readonly domain?: readonly [number, number]; // to compare several; the data's own otherwise
  readonly fill?: string;
  readonly outline?: Distribution; // drawn as a line, for before and after
  readonly outlineInk?: string;
}

export const MARGIN = { left: 44, right: 8, top: 8, bottom: 34 };

/** Bars for a distribution; both axes labelled. */
export function drawHistogram(distribution: Distribution, look: HistogramLook): SVGGElement {
  const group = draw("g", { class: "histogram" });
  const { width, height, inks } = look;
  const [left, right, top, bottom] = [MARGIN.left, width - MARGIN.right, MARGIN.top, height - MARGIN.bottom];
  const across = linear(domainOf(distribution, look), [left, right]);
  const density = densities(distribution);
  const second = look.outline === undefined ? [] : densities(look.outline);
  const most = Math.max(...density, ...second, 0);
  const least = Math.min(...[...density, ...second].filter((value) => value > 0), most);
  const up = look.log
    ? (value: number) => (value <= 0 ? bottom : bottom - (bottom - top) * (1 - fraction(value, most, least)))
    : (value: number) => bottom - (most === 0 ? 0 : (value / most) * (bottom - top));
  group.append(countAxis(distribution, look, { most, up, left, right }));
  for (const value of across.ticks(width < 260 ? 3 : 5)) {
    const x = across(value);
    group.append(
      draw("line", { x1: x, x2: x, y1: bottom, y2: bottom + 4, stroke: inks.faint }),
      drawText(round(value), x, bottom + 16, inks.soft, "middle"),
    );
  }
  const { edges } = distribution;
  const bars = density
    .map((value, at) => {
      if (value <= 0) return "";
      const [from, to] = [across(edges[at]!), across(edges[at + 1]!)];
      const [x, wide] = [Math.min(from, right), Math.max(to - from - (to - from > 3 ? 1 : 0), 0.75)];
      return `M${figure(x, 2)} ${bottom}V${figure(up(value), 2)}h${figure(wide, 2)}V${bottom}z`;
    })
    .join("");
  group.append(draw("path", { d: bars, fill: look.fill ?? inks.accent, class: "bars" }));
  if (look.outline !== undefined) {
    const line = second
      .map((value, at) => {
        const [from, to] = [across(look.outline!.edges[at]!), across(look.outline!.edges[at + 1]!)];
        return `${at === 0 ? `M${figure(from, 2)} ${bottom}` : ""}V${figure(up(value), 2)}H${figure(to, 2)}`;
      })
      .join("");
    group.append(
      draw("path", {
        d: `${line}V${bottom}`,
        fill: "none",
        stroke: look.outlineInk ?? inks.ink,
        "stroke-width": 1.5,
        class: "outline",
      }),
    );
  }
  group.append(draw("line", { x1: left, x2: right, y1: bottom + 0.5, y2: bottom + 0.5, stroke: inks.faint }));
  if (look.axis !== undefined) {
    group.append(drawText(look.axis, (left + right) / 2, height - 3, inks.soft, "middle"));
  }
  return group;
}

/** The bin under a place across, or null: its ends and count. */
export function binAt(
  distribution: Distribution,
  look: HistogramLook,
  x: number,
): { low: number; high: number; count: number } | null {
  const value = linear(domainOf(distribution, look), [MARGIN.left, look.width - MARGIN.right]).back(x);
  const { edges, counts } = distribution;
  if (!(value >= edges[0]! && value <= edges.at(-1)!)) return null;
  const at = Math.min(
    counts.length - 1,
    edges.findLastIndex((edge) => edge <= value),
  );
  return { low: edges[at]!, high: edges[at + 1]!, count: counts[at]! };
}

function domainOf(distribution: Distribution, { domain, outline }: HistogramLook): readonly [number, number] {
  return domain ?? extent(outline === undefined ? [distribution] : [distribution, outline]);
}

/** A distribution of numbers we hold: `bins` equal bins between the least and the largest. */
export function gather(values: ArrayLike<number>, bins: number): Distribution {
  const finite = Array.from(values).filter(Number.isFinite);
  const count = finite.length;
  const left_out = values.length - count;
  const found = reach(finite);
  if (found === null) {
    const none = { minimum: null, maximum: null, mean: null, deviation: null };
    return { edges: [0, 1], counts: [0], count, left_out, ...none };
  }
  const [minimum, maximum] = found;
  const [low, high] = widen(found);
  const mean = finite.reduce((sum, value) => sum + value, 0) / count;
  const counts = new Array<number>(bins).fill(0);
  let squares = 0;
  for (const value of finite) {
    squares += (value - mean) ** 2;
    counts[Math.min(bins - 1, Math.floor(((value - low) / (high - low)) * bins))]!++;
  }
  const edges = Array.from({ length: bins + 1 }, (_, at) => low + ((high - low) * at) / bins);
  return { edges, counts, count, left_out, minimum, maximum, mean, deviation: Math.sqrt(squares / count) };
}

export function extent(distributions: readonly Distribution[]): readonly [number, number] {
  const filled = distributions.filter((each) => each.count > 0);
  if (filled.length === 0) return [0, 1];
  const low = Math.min(...filled.map((each) => each.edges[0]!));
  const high = Math.max(...filled.map((each) => each.edges.at(-1)!));
  return widen([low, high]);
}

/** Ends that differ, also where all values are one. */
export function widen([low, high]: readonly [number, number]): readonly [number, number] {
  return high > low ? [low, high] : [low - 0.5, high + 0.5];
}

/** Share of all values per unit: comparable where bins are not equally wide. */
function densities({ edges, counts, count }: Distribution): number[] {
  return counts.map((value, at) => {
    const wide = edges[at + 1]! - edges[at]!;
    return count === 0 || wide <= 0 ? 0 : value / count / wide;
  });
}

/** How far below the largest on a logarithmic axis, 0 at the top; the smallest bar keeps a little height. */
function fraction(value: number, most: number, least: number): number {
  const span = Math.log(most / least) + 0.7;
  return Math.log(most / value) / span;
}

/** Grid lines at round counts of the widest-used bin; with unequal bins only the top is named. */
function countAxis(
  { edges, counts, count }: Distribution,
  { inks, log }: HistogramLook,
  at: { most: number; up: (value: number) => number; left: number; right: number },
): SVGGElement {
  const group = draw("g", { class: "counts" });
  const wide = (edges.at(-1)! - edges[0]!) / Math.max(1, counts.length);
  const largest = at.most * count * wide;
  if (!(largest > 0)) return group;
  const marks = log
    ? powers(largest)
    : linear([0, largest], [0, 1])
        .ticks(3)
        .filter((value) => value > 0 && Number.isInteger(value));
  for (const mark of marks) {
    const y = at.up(mark / count / wide);
    group.append(
      draw("line", { x1: at.left, x2: at.right, y1: y, y2: y, stroke: inks.line }),
      drawText(short(mark), at.left - 6, y + 4, inks.soft, "end"),
    );
  }
  return group;
}

function powers(largest: number): number[] {
  const top = Math.floor(Math.log10(largest));
  const step = Math.max(1, Math.ceil((top + 1) / 4));
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, at) => 10 ** (top - at * step)).filter(
    (value) => value >= 1,
  );
}

function short(value: number): string {
  if (value >= 1e6) return `${digits(value / 1e6, 3)}M`;
  return value >= 1e4 ? `${digits(value / 1e3, 3)}k` : spell(value);
}
