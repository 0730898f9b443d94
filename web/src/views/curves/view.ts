/**
 * Training curves: loss, scores, rate and gradient norm of one run or of several, followed while they are written.
 *
 * In:   runs; the step in focus; options "curves.…".
 * Out:  one chart for each quantity over a shared axis of steps, marks at alarms, and what the runs were started with.
 */

import type { RunDescription, RunEvent } from "../../api/types";
import { count, digits, figure } from "../../core/formats";
import { smooth } from "../../core/maths/smooth";
import { flag, optional, real, text } from "../../core/options";
import { MountedRuns, type RunSetting, runView } from "../../core/run_view";
import type { Mounted, TableData } from "../../core/view";
import { spell } from "../../marks/cells";
import { headColour } from "../../marks/colours";
import { button, type Control, slider, tick } from "../../marks/controls";
import { type Curve, type CurveMark, type DrawnCurves, drawCurves, valueNear } from "../../marks/curves";
import { listen } from "../../marks/gestures";
import { ARROWS, consume, ZOOMS } from "../../marks/keys";
import { make, relabel } from "../../marks/make";
import { type Inks, inks, SCREEN, sheet } from "../../marks/paper";
import { Tooltip } from "../../marks/tooltip";
import { type ChartData, chartsOf, differences, type Series } from "./charts";
import { type Words, words } from "./words";
import "./style.css";

interface CurvesOptions {
  readonly smoothing: number;
  readonly logy: boolean;
  readonly logx: boolean;
  readonly at: string | null; // "100-2000": the steps that are shown
}

const SPAN = /^(\d{1,12})-(\d{1,12})$/;
const TALL = 210; // pixels of a chart
const NARROW = 340; // the least width of a chart
const MOST_ROWS = 5000; // of the data table
const MOST_EVENTS = 200; // in the list

export const view = runView<Words, CurvesOptions>({
  name: "curves",
  order: 110,
  words,
  options: {
    smoothing: real(0, 0, 0.99),
    logy: flag(),
    logx: flag(),
    at: optional(text("", (value) => SPAN.test(value))),
  },
  fits: () => true,
  mount: (setting) => new Curves(setting),
});

interface Chart {
  readonly element: HTMLElement;
  data: ChartData;
  curves: DrawnCurves;
  stop(): void;
}

class Curves extends MountedRuns<Words, CurvesOptions> implements Mounted {
  private readonly runsList = make("ul", { class: "runs" });
  private readonly charts = make("div", {
    class: "charts",
    tabindex: 0,
    role: "group",
    "aria-label": () => this.say.charts,
  });
  private readonly events = make("section", { class: "events" });
  private readonly facts = make("section", { class: "facts" });
  private readonly note = make("p", { class: "note", role: "status" });
  private readonly tooltip: Tooltip;
  private readonly smoothing: Control<number>;
  private readonly logY: Control<boolean>;
  private readonly logX: Control<boolean>;
  private readonly drawn = new Map<string, Chart>(); // by name
  private pointed: number | null = null; // the step under the pointer

  constructor(setting: RunSetting<Words, CurvesOptions>) {
    super(setting);
    const { stage, say, options } = this;
    const now = options.now;
    this.smoothing = slider(
      {
        label: () => say.smoothing,
        minimum: 0,
        maximum: 0.99,
        step: 0.01,
        value: now.smoothing,
        text: (value) => say.smoothed(figure(value, 2)),
      },
      (value) => options.set({ smoothing: value }),
    );
    this.logY = tick(
      () => say.logY,
      now.logy,
      (logy) => options.set({ logy }),
    );
    this.logX = tick(
      () => say.logX,
      now.logx,
      (logx) => options.set({ logx }),
    );
    const bar = make(
      "div",
      { class: "drawn-bar" },
      this.smoothing.element,
      this.logY.element,
      this.logX.element,
    );
    const host = make("div", { class: "plots" }, this.charts);
    this.tooltip = new Tooltip(host);
    const root = make(
      "div",
      { class: "drawn curves-view" },
      this.runsList,
      bar,
      this.note,
      host,
      this.events,
      this.facts,
    );
    this.charts.addEventListener("keydown", (event) => this.press(event));
    stage.element.replaceChildren(root);
    this.draw();
  }

  update(): void {
    const { smoothing, logy, logx } = this.options.now;
    this.smoothing.set(smoothing);
    this.logY.set(logy);
    this.logX.set(logx);
    this.draw();
  }

  resize(): void {
    this.draw();
  }

  restyle(): void {
    relabel(this.stage.element);
    this.draw();
  }

  zoom(direction: -1 | 0 | 1): void {
    const [first, last] = this.span();
    const middle = this.stage.selection.get().step ?? (first + last) / 2;
    if (direction === 0) this.options.set({ at: null });
    else this.zoomAt(middle, direction > 0 ? 2 : 0.5);
  }

  async picture(): Promise<string> {
    const { stage, say } = this;
    const { theme } = stage;
    const width = 640;
    const parts = chartsOf(this.runs).map((data, at) => {
      const { element } = this.plot(data, width, inks(theme));
      return `<g transform="translate(0 ${at * (TALL + 12)})">${spell(element)}</g>`;
    });
    const caption = this.runs.map((run) => `${run.id}: ${this.describe(run)}`);
    const height = parts.length * (TALL + 12);
    return sheet({ width, height, body: parts.join(""), title: say.title, caption, theme });
  }

  async table(): Promise<TableData> {
    const { say } = this;
    const [first, last] = this.span();
    const several = this.runs.length > 1;
    const rows: (string | number | null)[][] = [];
    for (const { name, series } of chartsOf(this.runs))
      for (const each of series)
        each.steps.forEach((step, at) => {
          if (step < first || step > last) return;
          const run = several ? [this.runs[each.run]!.id] : [];
          rows.push([...run, say.chart(name), this.nameOf(each, false), step, each.values[at] ?? null]);
        });
    const columns = [...(several ? ["run"] : []), say.title, "", say.step, ""];
    const more = Math.max(0, rows.length - MOST_ROWS);
    return { caption: say.about, columns, rows: rows.slice(0, MOST_ROWS), more };
  }

  unmount(): void {
    for (const { stop } of this.drawn.values()) stop();
  }

  // Drawing

  draw(): void {
    const { runs, say } = this;
    const charts = chartsOf(runs);
    this.runsList.replaceChildren(...runs.map((run, at) => this.drawRun(run, at)));
    const wide = this.charts.clientWidth || 2 * NARROW;
    const columns = Math.max(1, Math.floor(wide / NARROW));
    const width = Math.max(240, Math.floor(wide / columns) - 12);
    for (const data of charts) this.show(data, this.plot(data, width, SCREEN));
    for (const [name, { element, stop }] of this.drawn) {
      if (charts.some((data) => data.name === name)) continue;
      stop();
      element.remove();
      this.drawn.delete(name);
    }
    const damaged = runs.reduce((sum, run) => sum + run.damaged, 0);
    this.note.replaceChildren(
      charts.length === 0 ? say.noCurves : "",
      damaged > 0 ? say.damaged(count(damaged)) : "",
      runs.some(({ thinned }) => thinned) ? say.thinned : "",
    );
    this.drawEvents();
    this.drawFacts();
  }

  /** Charts stay in their elements, so that a drag goes on while they are drawn again. */
  private show(data: ChartData, curves: DrawnCurves): void {
    const known = this.drawn.get(data.name);
    const chart = known ?? this.frame(data, curves);
    Object.assign(chart, { data, curves });
    chart.element.replaceChildren(curves.element);
    if (!known) this.charts.append(chart.element);
  }

  private frame(data: ChartData, curves: DrawnCurves): Chart {
    const element = make("figure", { class: "chart", "data-chart": data.name });
    const chart: Chart = { element, data, curves, stop: () => {} };
    const step = (x: number): number => chart.curves.across.back(x);
    chart.stop = listen(element, {
      zoom: (x, _, factor) => this.zoomAt(step(x), factor),
      pan: (dx) => this.pan(step(0) - step(dx)),
      hover: (x) => this.point(element, Math.round(step(x))),
      leave: () => this.point(element, null),
      tap: (x) => this.focus(Math.round(step(x))),
    });
    this.drawn.set(data.name, chart);
    return chart;
  }

  private plot(data: ChartData, width: number, ink: Inks): DrawnCurves {
    const { stage, say } = this;
    const { smoothing, logy, logx } = this.options.now;
    const curves = data.series.flatMap((series): Curve[] => {
      const curve = {
        name: this.nameOf(series, this.runs.length > 1),
        ink: this.inkOf(data, series),
        steps: series.steps,
        values: series.values,
        dashed: series.split !== "train",
      };
      if (smoothing === 0 || series.split !== "train") return [curve];
      return [
        { ...curve, faint: true },
        { ...curve, values: smooth(series.values, smoothing) },
      ];
    });
    const focus = this.pointed ?? stage.selection.get().step;
    return drawCurves(curves, {
      width,
      height: TALL,
      inks: ink,
      title: say.chart(data.name),
      span: this.span(),
      logX: logx,
      logY: logy,
      marks: data.name === "loss" ? this.marks(ink) : [],
      focus,
      ...(this.runs.length > 1 ? { legend: this.splits(data, ink) } : {}),
    });
  }

  /** Several runs have their colours above the charts; dashes tell splits apart. */
  private splits({ series }: ChartData, { soft }: Inks) {
    const splits = [...new Set(series.map(({ split }) => split))];
    return splits.map((split) => ({ name: this.say.split(split), ink: soft, dashed: split !== "train" }));
  }

  private marks(paper: Inks): CurveMark[] {
    const { stage } = this;
    const several = this.runs.length > 1;
    return this.runs.flatMap((run, at) =>
      alarmsOf(run).map(({ step, message }) => ({
        step,
        text: `${this.say.stepIs(count(step))}: ${stage.text(message)}`,
        ink: several ? headColour(at, stage.theme) : paper === SCREEN ? "var(--warn)" : paper.accent,
      })),
    );
  }

  private inkOf({ series }: ChartData, { run, split, part }: Series): string {
    const { theme } = this.stage;
    if (this.runs.length > 1) return headColour(run, theme);
    const parts = [...new Set(series.map((each) => each.part))];
    if (parts.length > 1) return headColour(parts.indexOf(part), theme);
    return headColour(split === "train" ? 0 : split === "dev" ? 1 : 2, theme);
  }

  private nameOf({ run, split, part }: Series, several: boolean): string {
    const { say } = this;
    const id = several ? [this.runs[run]!.id] : [];
    return [...id, say.split(split), ...(part === "" ? [] : [part])].join(" · ");
  }

  private describe(run: RunDescription): string {
    return this.say.run(this.say.state(run.state), count(run.last_step));
  }

  private drawRun(run: RunDescription, at: number): HTMLElement {
    const dot = make("span", { class: "dot", style: { background: headColour(at, this.stage.theme) } });
    const alarms = alarmsOf(run).length;
    return make(
      "li",
      { "data-run": run.id, "data-state": run.state },
      dot,
      make("strong", {}, run.id),
      make("span", { class: "state" }, this.describe(run)),
      alarms > 0 && make("span", { class: "alarms" }, `${this.say.alarm}: ${count(alarms)}`),
    );
  }

  private drawEvents(): void {
    const { say, stage } = this;
    const several = this.runs.length > 1;
    const items = this.runs
      .flatMap((run) => run.events.map((event) => ({ event, run })))
      .sort((a, b) => b.event.step - a.event.step)
      .slice(0, MOST_EVENTS)
      .map(({ event, run }) => {
        const { place } = event;
        const words = `${several ? `${run.id}: ` : ""}${stage.text(event.message)}`;
        const go = button(say.stepIs(count(event.step)), () => this.focus(event.step));
        const heads =
          place &&
          button(say.openHeads, () =>
            stage.selection.set({ view: "learning", place: { ...place, step: null }, step: event.step }),
          );
        return make("li", { "data-kind": event.kind }, go, make("span", {}, words), heads);
      });
    const calm = this.runs.every((run) => alarmsOf(run).length === 0);
    this.events.replaceChildren(
      make("h2", {}, say.events),
      ...(calm ? [make("p", {}, say.noAlarms)] : []),
      make("ul", {}, ...items),
    );
  }

  private drawFacts(): void {
    const { say, runs } = this;
    const open = [...this.facts.querySelectorAll("details")].map((each) => each.open);
    const parts: HTMLElement[] = [];
    if (runs.length > 1) {
      const rows = differences(runs.map(({ recipe }) => recipe)).map(({ name, values }) =>
        make("tr", {}, make("th", {}, name), ...values.map((value) => make("td", {}, value ?? say.none))),
      );
      const head = make("tr", {}, make("th", {}, say.setting), ...runs.map(({ id }) => make("th", {}, id)));
      const table = make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
      parts.push(make("h2", {}, say.differences), make("div", { class: "scroll" }, table));
    }
    runs.forEach(({ id, recipe, environment }) => {
      const name = runs.length > 1 ? ` · ${id}` : "";
      const machine = Object.entries(environment).map(([key, value]) => `${key}: ${String(value)}`);
      for (const [title, body] of [
        [say.recipe, recipe],
        [say.environment, machine.join("\n")],
      ] as const)
        parts.push(
          make(
            "details",
            { open: open.shift() ?? false },
            make("summary", {}, title + name),
            make("pre", {}, body),
          ),
        );
    });
    this.facts.replaceChildren(...parts);
  }

  // Steps

  /** All steps of all runs. */
  private whole(): readonly [number, number] {
    const last = Math.max(1, ...this.runs.map((run) => run.last_step));
    return [0, last];
  }

  /** The steps that are shown. */
  private span(): readonly [number, number] {
    const [, from, to] = SPAN.exec(this.options.now.at ?? "") ?? [];
    const [first, last] = this.whole();
    if (from === undefined || Number(from) >= Math.min(Number(to), last)) return [first, last];
    return [Number(from), Math.min(Number(to), last)];
  }

  private zoomAt(step: number, factor: number): void {
    const [first, last] = this.span();
    const size = Math.max(4, (last - first) / factor);
    const share = (step - first) / (last - first);
    this.showSpan(step - share * size, size);
  }

  private pan(by: number): void {
    const [first, last] = this.span();
    this.showSpan(first + by, last - first);
  }

  private showSpan(from: number, size: number): void {
    const [first, last] = this.whole();
    if (size >= last - first) {
      this.options.set({ at: null });
      return;
    }
    const start = Math.round(Math.max(first, Math.min(last - size, from)));
    this.options.set({ at: `${start}-${Math.round(start + size)}` });
  }

  private focus(step: number): void {
    const [first, last] = this.whole();
    this.stage.selection.set({ step: Math.max(first, Math.min(last, step)) });
  }

  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [, right] = ARROWS[event.key] ?? [0, 0];
    const zoom = ZOOMS[event.key];
    const [first, last] = this.span();
    if (right !== 0) {
      const far = Math.max(1, Math.round((last - first) / 100)) * right;
      this.focus((this.stage.selection.get().step ?? (right > 0 ? first : last)) + far);
      this.stage.announce(this.readAt(this.stage.selection.get().step ?? 0).join(", "));
    } else if (zoom !== undefined) this.zoom(zoom);
    else if (event.key === "Escape") this.stage.selection.set({ step: null });
    else return;
    consume(event);
  }

  private point(element: HTMLElement, step: number | null): void {
    this.pointed = step;
    this.tasks.frame(() => {
      if (step === null) this.tooltip.hide();
      else this.showValues(element, step);
    }, "hover");
  }

  private showValues(element: HTMLElement, step: number): void {
    const found = this.drawn.get(element.dataset.chart ?? "");
    if (!found) return;
    const lines = found.data.series.map((series) => {
      const near = valueNear(series, step);
      const name = this.nameOf(series, this.runs.length > 1);
      return make("div", {}, `${name}: ${digits(near?.[1])} (${this.say.stepIs(count(near?.[0] ?? 0))})`);
    });
    this.tooltip.fill(...lines);
    this.tooltip.show(element.offsetLeft + found.curves.across(step), element.offsetTop + 40);
  }

  /** The values at a step, in words. */
  private readAt(step: number): string[] {
    const several = this.runs.length > 1;
    const words = [...this.drawn.values()].flatMap(({ data }) =>
      data.series.slice(0, 4).map((series) => {
        const near = valueNear(series, step);
        return `${this.say.chart(data.name)} ${this.nameOf(series, several)} ${digits(near?.[1])}`;
      }),
    );
    return [this.say.stepIs(count(step)), ...words];
  }
}

function alarmsOf({ events }: RunDescription): RunEvent[] {
  return events.filter(({ kind }) => kind === "alarm");
}
