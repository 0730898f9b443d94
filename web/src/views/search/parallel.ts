/**
 * Parallel coordinates: each trial is a line over one axis for each setting, the objective last.
 *
 * In:   a search, the ranges that are chosen on its axes.
 * Out:  a section in which ranges are chosen by dragging and by keys.
 */

import type { SearchDescription, SearchTrial } from "../../api/types";
import { count, percent } from "../../core/formats";
import type { Options } from "../../core/options";
import { button } from "../../marks/controls";
import { draw, drawChart, drawText, make } from "../../marks/make";
import { type Asked, type Inks, PAGE_INKS, type Shown, writeValue } from "./parts";
import { type Axis, axesOf, meanOf, passes, type Range, readBrush, writeBrush } from "./shapes";

export const AXES = 230; // pixels from top to bottom
const [TOP, BOTTOM] = [26, AXES - 14]; // of an axis
const NARROWEST = 78; // pixels between two axes
const STEP = 0.1; // of an axis, by a key

export function drawParallel(shown: Shown, width: number): HTMLElement {
  const { search, say, options } = shown;
  const axes = axesOf(search);
  const chart = drawAxes(shown, Math.max(width, NARROWEST * axes.length), PAGE_INKS);
  listen(chart, axes, options);
  const ranges = readBrush(options.now.brush);
  const drawn = search.trials.filter((trial) => meanOf(trial, search.objectives[0]!.name) !== null);
  const kept = drawn.filter((trial) => passes(trial, axes, ranges));
  const clear = button(
    () => say.clear,
    () => options.set({ brush: "" }),
  );
  clear.hidden = ranges.size === 0;
  clear.dataset.key = "clear";
  return make(
    "section",
    { class: "parallel" },
    make("h3", {}, say.parallel),
    make("p", { class: "note" }, say.parallelHelp),
    make("div", { class: "scroll" }, chart),
    make("p", { class: "kept" }, say.kept(count(kept.length), count(drawn.length)), " ", clear),
  );
}

/** The picture alone. */
export function drawAxes(shown: Shown, width: number, inks: Inks): SVGSVGElement {
  const { search, say } = shown;
  const axes = axesOf(search);
  const ranges = readBrush(shown.options.now.brush);
  const chart = drawChart(width, AXES, null);
  chart.removeAttribute("aria-hidden");
  const x = (at: number): number => 20 + (at / Math.max(1, axes.length - 1)) * (width - 40);
  const order = [...search.trials].sort((first, second) => depth(search, first) - depth(search, second));
  for (const trial of order) {
    const places = axes.map((axis) => axis.place(trial));
    if (places.at(-1) === null) continue;
    const points = places.flatMap((place, at) => (place === null ? [] : [`${x(at)} ${toY(place)}`]));
    const isBest = trial.number === search.best_trial;
    const look = {
      d: `M${points.join("L")}`,
      fill: "none",
      stroke: isBest ? inks.accent : inks.soft,
      "stroke-width": isBest ? 2.5 : 1.2,
      "stroke-dasharray": trial.state === "complete" ? null : "3 3",
      opacity: passes(trial, axes, ranges) ? (isBest ? 1 : 0.6) : 0.08,
      "data-trial": trial.number,
    };
    chart.append(draw("path", look, draw("title", {}, `${say.trial} ${trial.number}`)));
  }
  axes.forEach((axis, at) => {
    const side = at === 0 ? "start" : at === axes.length - 1 ? "end" : "middle";
    chart.append(drawAxis(shown, axis, x(at), side, ranges.get(axis.name), inks));
  });
  return chart;
}

/** The best trial is drawn last, above the others. */
function depth(search: SearchDescription, trial: SearchTrial): number {
  return trial.number === search.best_trial ? 2 : Number(trial.state === "complete");
}

function drawAxis(
  { say }: Shown,
  axis: Axis,
  x: number,
  side: "start" | "middle" | "end",
  range: Range | undefined,
  { accent, soft }: Inks,
): SVGGElement {
  const ends = axis.ticks.map(({ value }) => writeValue(say, value));
  const group = draw(
    "g",
    {
      tabindex: 0,
      role: "slider",
      class: "axis",
      "data-axis": axis.name,
      "data-key": `axis ${axis.name}`,
      "aria-orientation": "vertical",
      "aria-label": say.axis(axis.name, ends[0] ?? "", ends.at(-1) ?? ""),
      "aria-valuemin": 0,
      "aria-valuemax": 1,
      "aria-valuenow": range ? (range[0] + range[1]) / 2 : 0.5,
      "aria-valuetext": range ? say.range(percent(range[0]), percent(range[1])) : say.wholeRange,
    },
    draw("rect", { x: x - 14, y: TOP, width: 28, height: BOTTOM - TOP, fill: "transparent" }),
    draw("line", { x1: x, x2: x, y1: BOTTOM, y2: TOP, stroke: soft }),
  );
  if (range) {
    const [low, high] = [toY(range[0]), toY(range[1])];
    const box = { x: x - 6, y: high, width: 12, height: Math.max(3, low - high) };
    group.append(draw("rect", { ...box, fill: accent, opacity: 0.35 }));
  }
  group.append(drawText(axis.name.replace(/^.*\./, ""), x, 12, soft, side, { "font-weight": 600 }));
  const last = side === "end";
  for (const tick of axis.ticks)
    group.append(
      drawText(
        writeValue(say, tick.value),
        x + (last ? -5 : 5),
        toY(tick.at) + 4,
        soft,
        last ? "end" : "start",
        {
          "font-size": 10,
        },
      ),
    );
  return group;
}

/** Ranges by dragging and by keys. */
function listen(chart: SVGSVGElement, axes: readonly Axis[], options: Options<Asked>): void {
  let from: { readonly axis: Axis; readonly at: number } | null = null;
  const share = (event: PointerEvent): number => {
    const box = chart.getBoundingClientRect();
    const scale = box.height ? AXES / box.height : 1;
    return Math.min(1, Math.max(0, (BOTTOM - (event.clientY - box.top) * scale) / (BOTTOM - TOP)));
  };
  const axisAt = (event: Event): Axis | undefined => {
    const name = (event.target as Element).closest<SVGElement>("[data-axis]")?.dataset.axis;
    return axes.find((axis) => axis.name === name);
  };
  const choose = (axis: Axis, range: Range | null): void => {
    const ranges = readBrush(options.now.brush);
    if (range) ranges.set(axis.name, range);
    else ranges.delete(axis.name);
    options.set({ brush: writeBrush(ranges) });
  };
  chart.addEventListener("pointerdown", (event) => {
    const axis = axisAt(event);
    if (axis) from = { axis, at: share(event) };
  });
  chart.addEventListener("pointerup", (event) => {
    if (!from) return;
    const to = share(event);
    const range: Range = [Math.min(from.at, to), Math.max(from.at, to)];
    choose(from.axis, range[1] - range[0] < 0.02 ? null : range);
    from = null;
  });
  chart.addEventListener("keydown", (event) => {
    const axis = axisAt(event);
    const way = { ArrowUp: 1, ArrowDown: -1 }[event.key] ?? 0;
    if (!axis || (way === 0 && event.key !== "Escape")) return;
    event.preventDefault();
    event.stopPropagation();
    if (way === 0) return choose(axis, null);
    const [low] = readBrush(options.now.brush).get(axis.name) ?? [way > 0 ? -STEP : 1 - 2 * STEP, 1];
    const next = Math.min(1 - 3 * STEP, Math.max(0, low + way * STEP));
    choose(axis, [next, next + 3 * STEP]);
  });
}

function toY(share: number): number {
  return BOTTOM - share * (BOTTOM - TOP);
}
