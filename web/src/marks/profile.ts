/**
 * A number along the layers: the way of one token over the middle of all tokens.
 *
 * In:   values (layer, token).
 * Out:  an SVG line chart with the median and the band that holds eight tokens of ten.
 */

import { round } from "./digits";
import { draw } from "./make";
import type { Inks } from "./paper";
import { linear } from "./scale";
import { reach } from "./sparkline";

export interface Level {
  readonly low: number; // a tenth of the tokens lie below
  readonly median: number;
  readonly high: number; // a tenth lie above
}

export interface ProfileLook {
  readonly width: number;
  readonly height: number;
  readonly inks: Inks;
  readonly mark: number; // the layer in focus
  readonly from: number; // the first layer that has a value
  readonly names: { readonly median: string; readonly band: string; readonly way: string };
}

const SAMPLE = 4096; // tokens that quantiles are taken from, evenly spaced

/** Quantiles of every layer. */
export function summarise(values: Float32Array, layers: number, tokens: number): Level[] {
  const every = Math.max(1, Math.ceil(tokens / SAMPLE));
  return Array.from({ length: layers }, (_, layer) => {
    const row: number[] = [];
    for (let token = 0; token < tokens; token += every) row.push(values[layer * tokens + token]!);
    row.sort((one, other) => one - other);
    const at = (share: number) => row[Math.round(share * (row.length - 1))] ?? 0;
    return { low: at(0.1), median: at(0.5), high: at(0.9) };
  });
}

export function drawProfile(
  levels: readonly Level[],
  way: readonly (number | null)[] | null,
  look: ProfileLook,
): SVGSVGElement {
  const { width, height, inks, from } = look;
  const svg = draw("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": look.names.way || look.names.median,
  });
  const used = levels.slice(from);
  const span = reach([...used.flatMap((level) => [level.low, level.high]), ...(way ?? [])]) ?? [0, 1];
  const [left, right, top, bottom] = [44, width - 10, 34, height - 24];
  const x = linear([0, Math.max(1, levels.length - 1)], [left, right]);
  const y = linear(span[0] === span[1] ? [span[0] - 0.5, span[1] + 0.5] : span, [bottom, top]);
  for (const value of y.ticks(4)) {
    svg.append(
      draw("line", { x1: left, x2: right, y1: y(value), y2: y(value), stroke: inks.line }),
      draw(
        "text",
        { x: left - 6, y: y(value) + 4, fill: inks.soft, "font-size": 11, "text-anchor": "end" },
        round(value),
      ),
    );
  }
  const every = Math.max(1, Math.ceil(levels.length / 7));
  for (let layer = 0; layer < levels.length; layer += every) {
    svg.append(
      draw(
        "text",
        { x: x(layer), y: height - 6, fill: inks.soft, "font-size": 11, "text-anchor": "middle" },
        layer,
      ),
    );
  }
  const point = (layer: number, value: number) => `${x(layer).toFixed(1)} ${y(value).toFixed(1)}`;
  const upper = used.map((level, at) => point(from + at, level.high));
  const lower = used.map((level, at) => point(from + at, level.low)).reverse();
  svg.append(
    draw("path", { d: `M${[...upper, ...lower].join("L")}z`, fill: inks.faint, "fill-opacity": 0.16 }),
    draw("path", {
      d: `M${used.map((level, at) => point(from + at, level.median)).join("L")}`,
      fill: "none",
      stroke: inks.faint,
      "stroke-width": 1.5,
      "stroke-dasharray": "4 3",
    }),
    draw("line", {
      x1: x(look.mark),
      x2: x(look.mark),
      y1: top,
      y2: bottom,
      stroke: inks.faint,
      "stroke-dasharray": "1 3",
    }),
  );
  if (way !== null) {
    const points = way.flatMap((value, layer) => (value === null ? [] : [point(layer, value)]));
    svg.append(
      draw("path", {
        d: `M${points.join("L")}`,
        fill: "none",
        stroke: inks.accent,
        "stroke-width": 2,
        class: "way",
      }),
    );
    const marked = way[look.mark];
    if (marked !== null && marked !== undefined)
      svg.append(draw("circle", { cx: x(look.mark), cy: y(marked), r: 4, fill: inks.accent }));
  }
  const legend = draw("g", { "font-size": 11, fill: inks.soft });
  legend.append(
    draw("line", {
      x1: left,
      x2: left + 16,
      y1: 24,
      y2: 24,
      stroke: inks.faint,
      "stroke-dasharray": "4 3",
      "stroke-width": 1.5,
    }),
    draw("text", { x: left + 20, y: 28 }, `${look.names.median}, ${look.names.band}`),
  );
  if (way !== null) {
    legend.append(
      draw("line", { x1: left, x2: left + 16, y1: 9, y2: 9, stroke: inks.accent, "stroke-width": 2 }),
      draw("text", { x: left + 20, y: 13, fill: inks.ink }, look.names.way),
    );
  }
  svg.append(legend);
  return svg;
}
