/**
 * Activation functions as curves: the one of this model drawn strong, over a histogram of what it was given.
 *
 * In:   the name of the function, and the numbers before it.
 * Out:  an SVG below the matrices of an activation.
 */

import { figure } from "../../core/formats";
import { draw, make } from "../../marks/make";
import type { WalkWords } from "./words";

/** The error function, by a formula that is off by less than 2e-7 (Abramowitz and Stegun 7.1.26). */
function erf(x: number): number {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const sum = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return Math.sign(x) * (1 - sum * Math.exp(-x * x));
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

export const FUNCTIONS: Readonly<Record<string, (x: number) => number>> = {
  relu: (x) => Math.max(0, x),
  gelu: (x) => (x / 2) * (1 + erf(x / Math.SQRT2)),
  "gelu-tanh": (x) => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  silu: (x) => x * sigmoid(x),
  tanh: Math.tanh,
  sigmoid,
};

const NAMES: Readonly<Record<string, string>> = {
  relu: "ReLU",
  gelu: "GELU",
  "gelu-tanh": "GELU (tanh)",
  silu: "SiLU",
  tanh: "tanh",
  sigmoid: "sigmoid",
};

const [WIDE, HIGH] = [360, 190];
const [LEFT, RIGHT, LOW, UP] = [-4, 4, -1.25, 4]; // what is drawn of the plane
const BINS = 64;
const across = (x: number): number => ((x - LEFT) / (RIGHT - LEFT)) * WIDE;
const down = (y: number): number => ((UP - y) / (UP - LOW)) * HIGH;

/** How many numbers lie in each part between LEFT and RIGHT; those beyond count at the ends. */
export function countValues(values: Float32Array): readonly number[] {
  const counts = new Array<number>(BINS).fill(0);
  for (const value of values) {
    const at = Math.floor(((value - LEFT) / (RIGHT - LEFT)) * BINS);
    if (!Number.isNaN(at)) counts[Math.max(0, Math.min(BINS - 1, at))]! += 1;
  }
  return counts;
}

export function makeCurves(used: string, values: Float32Array, say: WalkWords): HTMLElement {
  const shown = Object.keys(FUNCTIONS).filter(
    (name) => name === used || !(name === "gelu-tanh" || (name === "gelu" && used === "gelu-tanh")),
  );
  const svg = draw("svg", {
    class: "walk-curves",
    viewBox: `0 0 ${WIDE + 84} ${HIGH + 16}`,
    role: "img",
    "aria-label": () => say.curves(NAMES[used] ?? used),
  });
  const counts = countValues(values);
  const most = Math.max(1, ...counts);
  counts.forEach((count, at) => {
    const high = (count / most) * HIGH * 0.45;
    const bar = { x: (at * WIDE) / BINS, y: HIGH - high, width: WIDE / BINS - 0.5, height: high };
    svg.append(draw("rect", { class: "walk-count", ...bar }));
  });
  svg.append(
    draw("path", { class: "walk-axis", d: `M0 ${down(0)}H${WIDE}M${across(0)} 0V${HIGH}` }),
    ...[LEFT, -2, 2, RIGHT].map((x) =>
      draw("text", { x: across(x), y: HIGH + 12, "text-anchor": "middle" }, String(x).replace("-", "−")),
    ),
  );
  const names = shown
    .map((name) => ({ name, end: FUNCTIONS[name]!(RIGHT) }))
    .sort((one, other) => other.end - one.end);
  const order = [...shown.filter((name) => name !== used), used]; // the strong one lies on top
  for (const name of order) {
    const points = Array.from({ length: 81 }, (_, at) => LEFT + ((RIGHT - LEFT) * at) / 80);
    const line = points
      .map((x) => `${figure(across(x), 1)} ${figure(down(FUNCTIONS[name]!(x)), 1)}`)
      .join("L");
    svg.append(draw("path", { class: "walk-curve", "data-used": name === used, d: `M${line}` }));
  }
  let last = -3; // the first name is whole, too
  for (const { name, end } of names) {
    last = Math.max(last + 13, down(end) + 4);
    const text = { class: "walk-curve-name", "data-used": name === used, x: WIDE + 6, y: last };
    svg.append(draw("text", text, NAMES[name] ?? name));
  }
  return make(
    "figure",
    { class: "walk-curves-figure" },
    svg,
    make("figcaption", { class: "hint" }, () => say.curves(NAMES[used] ?? used)),
  );
}
