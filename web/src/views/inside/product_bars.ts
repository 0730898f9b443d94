/**
 * The products of one score as bars, dimension by dimension, with their running sum.
 *
 * In:   a pair of vectors.
 * Out:  an SVG group.
 */

import { digits, exact, figure, round } from "../../core/formats";
import { linear } from "../../core/maths/scale";
import type { Pair } from "../../data/pair";
import { draw } from "../../marks/make";
import type { Inks } from "../../marks/paper";
import { reach } from "../../marks/sparkline";

export const HEIGHT = 240;
const [TOP, BOTTOM, LEFT] = [10, HEIGHT - 26, 48];
const NEGATIVE = "#c4622d";

export function drawProducts(pair: Pair, bySize: boolean, width: number, ink: Inks): SVGGElement {
  const { products } = pair;
  const order = Array.from(products.keys());
  if (bySize) order.sort((one, other) => Math.abs(products[other]!) - Math.abs(products[one]!));
  let total = 0;
  const running = order.map((at) => (total += products[at]!));
  const span = reach([0, ...products, ...running]) ?? [0, 1];
  const y = linear(span[0] === span[1] ? [-1, 1] : span, [BOTTOM, TOP]);
  const right = width - 8;
  const step = (right - LEFT) / order.length;
  const middle = (at: number) => LEFT + (at + 0.5) * step;
  const group = draw("g", {}, ...drawTicks(y, right, ink));
  const every = Math.max(1, Math.ceil(28 / step));
  order.forEach((dimension, at) => {
    group.append(drawBar(pair, dimension, LEFT + at * step, step, y, ink));
    if (at % every !== 0) return;
    const look = { "text-anchor": "middle", "font-size": 10, fill: ink.soft };
    group.append(draw("text", { x: middle(at), y: HEIGHT - 10, ...look }, dimension));
  });
  const line = running.map((value, at) => `${figure(middle(at), 1)} ${figure(y(value), 1)}`).join("L");
  const look = { fill: "none", stroke: ink.ink, "stroke-width": 1.5, class: "running" };
  group.append(draw("path", { d: `M${line}`, ...look }));
  return group;
}

function drawTicks(y: ReturnType<typeof linear>, right: number, ink: Inks): SVGElement[] {
  return y.ticks(5).flatMap((value) => {
    const at = y(value);
    const look = { "text-anchor": "end", "font-size": 11, fill: ink.soft };
    return [
      draw("line", { x1: LEFT, x2: right, y1: at, y2: at, stroke: value === 0 ? ink.faint : ink.line }),
      draw("text", { x: LEFT - 6, y: at + 4, ...look }, round(value)),
    ];
  });
}

function drawBar(
  { query, key, products }: Pair,
  dimension: number,
  x: number,
  step: number,
  y: ReturnType<typeof linear>,
  ink: Inks,
): SVGElement {
  const product = products[dimension]!;
  const words = `${dimension}: ${exact(query[dimension])} × ${exact(key[dimension])} = ${digits(product)}`;
  return draw(
    "rect",
    {
      x: x + step * 0.1,
      y: Math.min(y(0), y(product)),
      width: Math.max(0.8, step * 0.8),
      height: Math.abs(y(product) - y(0)),
      fill: product < 0 ? NEGATIVE : ink.accent,
      "data-dimension": dimension,
    },
    draw("title", {}, words),
  );
}
