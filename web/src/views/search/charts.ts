/**
 * Trials of a search as dots: in order with the best so far, and one objective against another; what mattered as bars.
 *
 * In:   a search, a width, colours.
 * Out:  pictures, and a table of bars.
 */

import type { SearchTrial } from "../../api/types";
import { compact, digits, figure } from "../../core/formats";
import { draw, drawChart, drawText, make } from "../../marks/make";
import type { Inks, Shown } from "./parts";
import { bestSoFar, meanOf } from "./shapes";

export const TALL = 190; // pixels of a chart
const MARGIN = { left: 46, right: 14, top: 12, bottom: 24 };

interface Dot {
  readonly x: number;
  readonly y: number;
}
type TrialDot = Dot & { readonly trial: SearchTrial };

/** A dot for each trial over its number; a line through the best so far. */
export function drawHistory(shown: Shown, width: number, inks: Inks): SVGSVGElement {
  const { search, say } = shown;
  const { name } = search.objectives[0]!;
  const dots = search.trials.flatMap((trial) => {
    const y = meanOf(trial, name);
    return y === null ? [] : [{ x: trial.number, y, trial }];
  });
  const best = bestSoFar(search).map(({ number, value }) => ({ x: number, y: value }));
  return drawDots(shown, { label: say.history, axis: say.trial, dots, line: best, width, inks });
}

/** One objective against another; a line through those that no trial beats in both. */
export function drawFront(shown: Shown, width: number, inks: Inks): SVGSVGElement {
  const { search, say } = shown;
  const [first, second] = search.objectives;
  const dots = search.trials.flatMap((trial) => {
    const [x, y] = [meanOf(trial, second!.name), meanOf(trial, first!.name)];
    return x === null || y === null ? [] : [{ x, y, trial }];
  });
  const line = dots.filter(({ trial }) => search.pareto.includes(trial.number)).sort((a, b) => a.x - b.x);
  const label = say.front(first!.name, second!.name);
  return drawDots(shown, { label, axis: second!.name, dots, line, width, inks });
}

function drawDots(
  { search, say, language }: Shown,
  plan: {
    readonly label: string;
    readonly axis: string; // what is measured across
    readonly dots: readonly TrialDot[];
    readonly line: readonly Dot[];
    readonly width: number;
    readonly inks: Inks;
  },
): SVGSVGElement {
  const { dots, width } = plan;
  const { accent, soft } = plan.inks;
  const chart = drawChart(width, TALL, plan.label);
  if (dots.length === 0) return chart;
  const [x0, x1] = reach(dots.map(({ x }) => x));
  const [y0, y1] = reach(dots.map(({ y }) => y));
  const across = (x: number): number =>
    MARGIN.left + ((x - x0) / (x1 - x0)) * (width - MARGIN.left - MARGIN.right);
  const down = (y: number): number =>
    TALL - MARGIN.bottom - ((y - y0) / (y1 - y0)) * (TALL - MARGIN.top - MARGIN.bottom);
  const path = plan.line.map(({ x, y }, at) => `${at === 0 ? "M" : "L"}${across(x)} ${down(y)}`).join("");
  chart.append(
    drawText(digits(y1, 3), 0, MARGIN.top + 4, soft),
    drawText(digits(y0, 3), 0, TALL - MARGIN.bottom, soft),
    drawText(compact(x0, language), MARGIN.left, TALL - 6, soft),
    drawText(compact(x1, language), width - MARGIN.right, TALL - 6, soft, "end"),
    drawText(plan.axis, (width + MARGIN.left) / 2, TALL - 6, soft, "middle"),
    draw("path", { d: path, fill: "none", stroke: accent, "stroke-width": 1.5 }),
  );
  for (const { x, y, trial } of dots) {
    const whole = trial.state === "complete";
    const look = {
      cx: across(x),
      cy: down(y),
      r: trial.number === search.best_trial ? 6 : 4,
      fill: trial.baseline ? soft : whole ? accent : "none",
      stroke: trial.baseline || !whole ? soft : accent,
    };
    const about = `${say.trial} ${trial.number}, ${say.state(trial.state)}: ${digits(y)}`;
    chart.append(draw("circle", look, draw("title", {}, about)));
  }
  return chart;
}

function reach(values: readonly number[]): readonly [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low < high ? [low, high] : [low - 0.5, high + 0.5];
}

/** Which settings decided the first objective. */
export function drawImportance({ search, say }: Shown): HTMLElement {
  const { name } = search.objectives[0]!;
  const shares = search.parameters
    .flatMap((parameter) => {
      const share = parameter.importance[name] ?? null;
      return share === null ? [] : [{ name: parameter.name, share }];
    })
    .sort((first, second) => second.share - first.share);
  if (shares.length === 0) return make("section", { hidden: true });
  const most = shares[0]!.share || 1;
  const rows = shares.map(({ name, share }) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, name),
      make("td", { class: "bar" }, make("span", { style: { width: `${(100 * share) / most}%` } })),
      make("td", {}, `${figure(100 * share, 2)} %`),
    ),
  );
  return make(
    "section",
    { class: "importance" },
    make("h3", {}, say.importance(name)),
    make("table", {}, make("tbody", {}, ...rows)),
    make("p", { class: "note" }, say.importanceNote),
  );
}
