/**
 * Training curves: loss, scores, rate and gradient norm of one run or of several, followed while they are written.
 *
 * In:   runs; the step in focus; options "curves.…".
 * Out:  one chart for each quantity over a shared axis of steps, marks at alarms, and what the runs were started with.
 */

import type { RunDescription } from "../../api/types";
import { count, digits, figure } from "../../core/formats";
import { flag, optional, real, text } from "../../core/options";
import { type AllRuns, MountedRuns, type RunSetting, runView } from "../../core/run_view";
import { isSpan, readSpan, type StepSpan, writeSpan, zoomSpan } from "../../core/step_span";
import type { Asker } from "../../core/tasks";
import type { Mounted, TableData } from "../../core/view";
import { type Loaded, RunNumbers } from "../../data/run_numbers";
import { liveWords } from "../../i18n/core";
import { type RunWords, words as runWords } from "../../i18n/runs";
import { spell } from "../../marks/cells";
import { headColour } from "../../marks/colours";
import { button, type Control, slider, tick } from "../../marks/controls";
import { drawCurves, planCurves, valueNear } from "../../marks/curves";
import { ARROWS, consume, ZOOMS } from "../../marks/keys";
import { make, relabel } from "../../marks/make";
import { inks, SCREEN, sheet } from "../../marks/paper";
import { refill } from "../../marks/refill";
import { Tooltip } from "../../marks/tooltip";
import { Chart, type ChartActions } from "./chart";
import { type ChartData, chartsOf, titleOf } from "./charts";
import { drawFacts } from "./facts";
import { Happenings } from "./happenings";
import { type Look, Plots, TALL } from "./plots";
import { SampleList } from "./samples";
import { type Words, words } from "./words";
import "./style.css";

interface CurvesOptions extends Look {
  readonly at: string | null; // "100-2000": the steps that are shown
}

const NARROW = 340; // the least width of a chart
const MOST_ROWS = 5000; // of the data table

export const view = runView<Words, CurvesOptions>({
  name: "curves",
  order: 110,
  words,
  options: {
    smoothing: real(0, 0, 0.99),
    logy: flag(),
    logx: flag(),
    at: optional(text("", isSpan)),
  },
  fits: () => true,
  mount: (setting) => new Curves(setting),
});

class Curves extends MountedRuns<Words, CurvesOptions> implements Mounted {
  private readonly common: RunWords = liveWords(runWords, () => this.stage.language);
  private readonly runsList = make("ul", { class: "runs" });
  private readonly charts = make("div", {
    class: "charts",
    tabindex: 0,
    role: "group",
    "aria-label": () => this.say.charts,
  });
  private readonly hint = make("p", { class: "note" });
  private readonly facts = make("section", { class: "facts" });
  private readonly note = make("p", { class: "note", role: "status" });
  private readonly samples: SampleList;
  private readonly sampleAsker: Asker<AllRuns>;
  private readonly tooltip: Tooltip;
  private readonly smoothing: Control<number>;
  private readonly logY: Control<boolean>;
  private readonly logX: Control<boolean>;
  private readonly all: HTMLButtonElement;
  private readonly drawn = new Map<string, Chart>(); // by name
  private readonly numbers: RunNumbers;
  private readonly plotted = new WeakMap<Loaded, ChartData[]>();
  private readonly plots: Plots;
  private readonly happenings: Happenings;
  private readonly actions: ChartActions = {
    zoomAt: (step, factor) => this.zoomAt(step, factor),
    pan: (by) => this.pan(by),
    choose: (first, last) => this.options.set({ at: writeSpan(first, last - first, this.whole()) }),
    showAll: () => this.zoom(0),
    point: (chart, step) => this.point(chart, step),
    tap: (step, mark) => {
      this.focus(step);
      if (mark) this.happenings.open();
    },
    isWhole: () => this.options.now.at === null,
  };

  constructor(setting: RunSetting<Words, CurvesOptions>) {
    super(setting);
    const { stage, say, options } = this;
    const now = options.now;
    this.numbers = new RunNumbers(
      this.tasks,
      () => this.runs,
      (run, range, points) => run.series([], range, points),
      () => this.drawCharts(),
    );
    const [runs, focus] = [() => this.runs, (step: number) => this.focus(step)];
    this.plots = new Plots(stage, say, this.common, runs);
    this.happenings = new Happenings(stage, say, this.common, this.names, runs, focus);
    this.samples = new SampleList(say, focus);
    this.sampleAsker = this.tasks.asker(() => {}); // a server of an older version has none
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
    this.all = button(
      () => say.allSteps,
      () => this.zoom(0),
    );
    const bar = make(
      "div",
      { class: "drawn-bar" },
      this.smoothing.element,
      this.logY.element,
      this.logX.element,
      this.all,
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
      this.hint,
      this.happenings.alarms,
      this.samples.element,
      this.happenings.events,
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
    this.want(); // now: a picture waits for what is asked
    this.tasks.frame(() => {
      this.drawCharts();
      this.happenings.drawAlarms();
      this.samples.draw(this.stage.selection.get().step);
    }, "charts");
  }

  news(): void {
    this.draw();
  }

  resize(): void {
    this.drawCharts();
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
    const parts = this.chartData().map((data, at) => {
      const { element } = drawCurves(
        ...this.plots.plot(data, this.options.now, this.span(), width, inks(theme)),
      );
      return `<g transform="translate(0 ${at * (TALL + 12)})">${spell(element)}</g>`;
    });
    const caption = this.runs.map((run) => `${run.id}: ${this.describe(run)}`);
    const height = parts.length * (TALL + 12);
    return sheet({ width, height, body: parts.join(""), title: say.title, caption, theme });
  }

  async table(): Promise<TableData> {
    const { say, common } = this;
    const [first, last] = this.span();
    const several = this.runs.length > 1;
    const rows: (string | number | null)[][] = [];
    let coarse = false;
    for (const { name, series } of this.chartData())
      for (const each of series) {
        coarse ||= each.low !== undefined;
        each.steps.forEach((step, at) => {
          if (step < first || step > last) return;
          const run = several ? [this.runs[each.run]!.id] : [];
          const numbers = [each.values, each.low ?? each.values, each.high ?? each.values];
          const values = numbers.map((all) => (Number.isNaN(all[at]!) ? null : all[at]!));
          rows.push([...run, titleOf(name, say), this.plots.nameOf(each, false), step, ...values]);
        });
      }
    const { columns } = say;
    const names = [columns.curve, columns.split, common.step, columns.value, columns.low, columns.high];
    const cut = coarse ? rows : rows.map((row) => row.slice(0, -2)); // every point is exact
    return {
      caption: say.about,
      columns: [...(several ? [columns.run] : []), ...(coarse ? names : names.slice(0, -2))],
      rows: cut.slice(0, MOST_ROWS),
      more: Math.max(0, rows.length - MOST_ROWS),
    };
  }

  unmount(): void {
    for (const chart of this.drawn.values()) chart.remove();
  }

  // Drawing

  private draw(): void {
    const { runs, say } = this;
    this.fetchSamples();
    refill(this.runsList, ...runs.map((run, at) => this.drawRun(run, at)));
    this.drawCharts();
    this.happenings.drawAlarms();
    this.happenings.drawEvents();
    drawFacts(this.facts, runs, say);
  }

  private chartData(): readonly ChartData[] {
    const loaded = this.numbers.shown(this.span());
    if (!loaded) return [];
    const known = this.plotted.get(loaded) ?? chartsOf(loaded.runs);
    this.plotted.set(loaded, known);
    return known;
  }

  /** Of one chart. */
  private width(): number {
    const wide = this.charts.clientWidth || 2 * NARROW;
    const columns = Math.max(1, Math.floor(wide / NARROW));
    return Math.max(240, Math.floor(wide / columns) - 12);
  }

  private want(): void {
    const what = this.runs.map(({ id, revision }) => `${id}/${revision}`).join();
    this.numbers.want({ what, span: this.span(), points: this.width() });
  }

  private drawCharts(): void {
    const { runs, say } = this;
    this.want();
    const width = this.width();
    const charts = this.chartData();
    for (const data of charts) this.show(data, width);
    for (const [name, chart] of this.drawn) {
      if (charts.some((data) => data.name === name)) continue;
      chart.remove();
      this.drawn.delete(name);
    }
    const empty = runs.every(({ names }) => names.length === 0);
    const damaged = runs.reduce((sum, run) => sum + run.damaged, 0);
    this.note.replaceChildren(
      empty ? say.noCurves : charts.length === 0 ? say.loading : "",
      damaged > 0 ? say.damaged(count(damaged)) : "",
    );
    this.hint.textContent = charts.length > 0 ? say.howToZoom : "";
    this.all.disabled = this.options.now.at === null;
  }

  private show(data: ChartData, width: number): void {
    let chart = this.drawn.get(data.name);
    if (!chart) {
      chart = new Chart(data, this.actions);
      this.drawn.set(data.name, chart);
      this.charts.append(chart.element);
    }
    chart.draw(data, planCurves(...this.plots.plot(data, this.options.now, this.span(), width, SCREEN)));
  }

  private describe(run: RunDescription): string {
    return `${this.common.state(run.state)}, ${this.say.steps(count(run.last_step))}`;
  }

  private drawRun(run: RunDescription, at: number): HTMLElement {
    const { say, common, stage } = this;
    const several = this.runs.length > 1;
    const dot = make("span", { class: "dot", style: { background: headColour(at, stage.theme) } });
    const others = this.runs.filter((each) => each !== run).map(({ id }) => id);
    const leave = button(
      "×",
      () => stage.selection.set({ run: others.join(",") }),
      () => `${say.leave}: ${run.id}`,
    );
    leave.classList.add("small", "quiet");
    leave.dataset.key = `leave ${run.id}`;
    leave.setAttribute("aria-label", `${say.leave}: ${run.id}`);
    const open = run.alarm_list.some((alarm) => alarm.passed_at === null);
    return make(
      "li",
      { "data-run": run.id, "data-state": run.state },
      several && dot,
      make("strong", {}, run.id),
      make("span", { class: "run-state" }, common.state(run.state)),
      make("span", { class: "state" }, say.steps(count(run.last_step))),
      run.score_name !== null &&
        make("span", { class: "state" }, say.best(run.score_name, digits(run.score))),
      run.alarms > 0 &&
        make("span", { class: "alarm-count", "data-open": open }, say.alarmCount(count(run.alarms))),
      several && leave,
    );
  }

  /** Of the first run, once more after each evaluation. */
  private fetchSamples(): void {
    const { step } = this.stage.selection.get();
    const { id, revision, events, score, last_step, state } = this.runs[0]!;
    const key = [id, revision, events.length, score, state, state === "running" ? last_step : 0].join();
    const asked = this.sampleAsker.ask(
      key,
      async ({ runs }) => (await runs[0]?.samples?.()) ?? [],
      (steps) => {
        this.samples.set(steps);
        this.samples.draw(this.stage.selection.get().step);
      },
    );
    if (!asked) this.samples.draw(step);
  }

  // Steps

  /** All steps of all runs. */
  private whole(): StepSpan {
    return [0, Math.max(1, ...this.runs.map((run) => run.last_step))];
  }

  /** The steps that are shown. */
  private span(): StepSpan {
    return readSpan(this.options.now.at, this.whole());
  }

  private zoomAt(step: number, factor: number): void {
    this.options.set({ at: zoomSpan(this.span(), step, factor, this.whole()) });
  }

  private pan(by: number): void {
    const [first, last] = this.span();
    this.options.set({ at: writeSpan(first + by, last - first, this.whole()) });
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
    const { step } = this.stage.selection.get();
    const alarm = { n: 1, p: -1 }[event.key.toLowerCase()];
    if (right !== 0) {
      const far = Math.max(1, Math.round((last - first) / 100)) * right;
      this.focus((step ?? (right > 0 ? first : last)) + far);
      this.stage.announce(this.readAt(this.stage.selection.get().step ?? 0).join(", "));
    } else if (zoom !== undefined) this.zoom(zoom);
    else if (alarm !== undefined) {
      const steps = this.happenings.all().map((each) => each.alarm.first_step);
      const next =
        alarm > 0
          ? steps.find((each) => each > (step ?? -1))
          : steps.findLast((each) => each < (step ?? Infinity));
      if (next === undefined) return;
      this.focus(next);
      this.happenings.open();
    } else if (event.key === "Escape") this.stage.selection.set({ step: null });
    else return;
    consume(event);
  }

  private point(pointed: Chart, step: number | null): void {
    this.tasks.frame(() => {
      for (const chart of this.drawn.values()) chart.mark(step);
      if (step === null) this.tooltip.hide();
      else this.showValues(pointed, step);
    }, "hover");
  }

  private showValues({ element, data, plan }: Chart, step: number): void {
    if (!plan) return;
    const lines = data.series.map((series) => {
      const near = valueNear(series, step);
      return make(
        "div",
        { class: "reading" },
        make("span", { class: "dot", style: { background: this.plots.inkOf(data, series) } }),
        `${this.plots.nameOf(series)}: ${digits(near?.[1])}`,
        make("span", { class: "state" }, ` ${this.say.atStep(count(Math.round(near?.[0] ?? 0)))}`),
      );
    });
    this.tooltip.fill(...lines);
    this.tooltip.show(element.offsetLeft + plan.across(step), element.offsetTop + 40);
  }

  /** The values at a step, in words. */
  private readAt(step: number): string[] {
    const words = [...this.drawn.values()].flatMap(({ data }) =>
      data.series.slice(0, 4).map((series) => {
        const near = valueNear(series, step);
        return `${titleOf(data.name, this.say)} ${this.plots.nameOf(series)} ${digits(near?.[1])}`;
      }),
    );
    return [this.common.stepIs(count(step)), ...words];
  }
}
