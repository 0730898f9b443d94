/**
 * A number along the layers: the way of one token over the middle of all tokens.
 *
 * In:   values (layer, token).
 * Out:  an SVG line chart with the median and the band that holds eight tokens of ten.
 */

import { figure, round } from "../core/formats";
import { linear } from "../core/maths/scale";
import { widen } from "./histogram";
import { draw, drawChart, drawText } from "./make";
import type { Inks } from "./paper";
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

interface Axes {
  readonly x: ReturnType<typeof linear>; // of a layer
  readonly y: ReturnType<typeof linear>; // of a value
}

const DASHED = { "stroke-width": 1.5, "stroke-dasharray": "4 3" };
const [LEFT, TOP, BELOW] = [44, 34, 24]; // margins

export function drawProfile(
  levels: readonly Level[],
  way: readonly (number | null)[] | null,
  look: ProfileLook,
): SVGSVGElement {
  const { width, height, names, from } = look;
  const used = levels.slice(from);
  const span = reach([...used.flatMap((level) => [level.low, level.high]), ...(way ?? [])]) ?? [0, 1];
  const axes = {
    x: linear([0, Math.max(1, levels.length - 1)], [LEFT, width - 10]),
    y: linear(widen(span), [height - BELOW, TOP]),
  };
  return drawChart(
    width,
    height,
    names.way || names.median,
    ...drawAxes(axes, levels.length, look),
    ...(used.length === 0 ? [] : drawMiddle(axes, used, look)), // embeddings alone have no change
    ...(way === null ? [] : drawWay(axes, way, look)),
    drawLegend(way !== null, look),
  );
}

function drawAxes({ x, y }: Axes, layers: number, { width, height, inks }: ProfileLook): SVGElement[] {
  const lines = y
    .ticks(4)
    .flatMap((value) => [
      draw("line", { x1: LEFT, x2: width - 10, y1: y(value), y2: y(value), stroke: inks.line }),
      drawText(round(value), LEFT - 6, y(value) + 4, inks.soft, "end"),
    ]);
  const every = Math.max(1, Math.ceil(layers / 7));
  const names: SVGElement[] = [];
  for (let layer = 0; layer < layers; layer += every)
    names.push(drawText(layer, x(layer), height - 6, inks.soft, "middle"));
  return [...lines, ...names];
}

/** The band and the median of all tokens, and the layer in focus. */
function drawMiddle({ x, y }: Axes, used: readonly Level[], look: ProfileLook): SVGElement[] {
  const { inks, from, mark, height } = look;
  const line = (name: keyof Level) =>
    used.map((level, at) => `${figure(x(from + at), 1)} ${figure(y(level[name]), 1)}`);
  const band = [...line("high"), ...line("low").reverse()].join("L");
  const here = { x1: x(mark), x2: x(mark), y1: TOP, y2: height - BELOW };
  return [
    draw("path", { d: `M${band}z`, fill: inks.faint, "fill-opacity": 0.16 }),
    draw("path", { d: `M${line("median").join("L")}`, fill: "none", stroke: inks.faint, ...DASHED }),
    draw("line", { ...here, stroke: inks.faint, "stroke-dasharray": "1 3" }),
  ];
}

function drawWay({ x, y }: Axes, way: readonly (number | null)[], { inks, mark }: ProfileLook): SVGElement[] {
  const points = way.flatMap((value, layer) =>
    value === null ? [] : [`${figure(x(layer), 1)} ${figure(y(value), 1)}`],
  );
  const look = { fill: "none", stroke: inks.accent, "stroke-width": 2, class: "way" };
  if (points.length === 0) return [];
  const line = draw("path", { d: `M${points.join("L")}`, ...look });
  const marked = way[mark] ?? null;
  if (marked === null) return [line];
  return [line, draw("circle", { cx: x(mark), cy: y(marked), r: 4, fill: inks.accent })];
}

function drawLegend(way: boolean, { inks, names }: ProfileLook): SVGElement {
  const stroke = (y: number) => ({ x1: LEFT, x2: LEFT + 16, y1: y, y2: y });
  const legend = draw(
    "g",
    { "font-size": 11, fill: inks.soft },
    draw("line", { ...stroke(24), stroke: inks.faint, ...DASHED }),
    draw("text", { x: LEFT + 20, y: 28 }, `${names.median}, ${names.band}`),
  );
  if (way) {
    legend.append(
      draw("line", { ...stroke(9), stroke: inks.accent, "stroke-width": 2 }),
      draw("text", { x: LEFT + 20, y: 13, fill: inks.ink }, names.way),
    );
  }
  return legend;
}
