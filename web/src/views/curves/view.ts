/**
 * Training curves: loss, scores, rate and gradient norm of one run or of several, followed while they are written.
 *
 * In:   runs; the step in focus; options "curves.…".
 * Out:  one chart for each quantity over a shared axis of steps, marks at alarms, and what the runs were started with.
 */

import type { RunAlarm, RunDescription } from "../../api/types";
import { count, digits, figure } from "../../core/formats";
import { flag, optional, real, text } from "../../core/options";
import { type AllRuns, MountedRuns, type RunSetting, runView } from "../../core/run_view";
import { isSpan, readSpan, type StepSpan, writeSpan, zoomSpan } from "../../core/step_span";
import type { Asker } from "../../core/tasks";
import type { Mounted, TableData } from "../../core/view";
import { type Loaded, RunNumbers } from "../../data/run_numbers";
import { liveWords } from "../../i18n/core";
import { type RunWords, words as runWords } from "../../i18n/runs";
import { drawAlarms } from "../../marks/alarms";
import { spell } from "../../marks/cells";
import { headColour } from "../../marks/colours";
import { button, type Control, slider, tick } from "../../marks/controls";
import {
  type Curve,
  type CurveMark,
  type CurvePlan,
  drawCurves,
  drawFrame,
  paintCurves,
  planCurves,
  valueNear,
} from "../../marks/curves";
import { listen, pointIn } from "../../marks/gestures";
import { ARROWS, consume, ZOOMS } from "../../marks/keys";
import { make, relabel } from "../../marks/make";
import { type Inks, inks, SCREEN, sheet } from "../../marks/paper";
import { refill } from "../../marks/refill";
import { Tooltip } from "../../marks/tooltip";
import { type ChartData, chartsOf, type Series, smoothed } from "./charts";
import { drawFacts } from "./facts";
import { SampleList } from "./samples";
import { type Words, words } from "./words";
import "./style.css";

interface CurvesOptions {
  readonly smoothing: number;
  readonly logy: boolean;
  readonly logx: boolean;
  readonly at: string | null; // "100-2000": the steps that are shown
}

const TALL = 210; // pixels of a chart
const NARROW = 340; // the least width of a chart
const MARKS = 34; // pixels at the top of a chart where its marks can be tapped
const NEAR = 10; // pixels beside a mark
const MOST_ROWS = 5000; // of the data table
const MOST_LISTED = 200; // alarms, events

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

interface Chart {
  readonly element: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly frame: HTMLElement; // of the axes and marks
  readonly cursor: HTMLElement; // a line at the step under the pointer
  data: ChartData;
  plan: CurvePlan | null;
  stop(): void;
}

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
  private readonly alarms = make("section", { class: "alarms" });
  private readonly events = make("section", { class: "events" });
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
  private readonly smooth = new WeakMap<Series, { readonly kept: number; readonly values: Float64Array }>();

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
    this.samples = new SampleList(say, (step) => this.focus(step));
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
      this.alarms,
      this.samples.element,
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
    this.want(); // now: a picture waits for what is asked
    this.tasks.frame(() => {
      this.drawCharts();
      this.drawAlarmList();
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
      const { element } = drawCurves(...this.plot(data, width, inks(theme)));
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
          rows.push([...run, say.chart(name), this.nameOf(each, false), step, ...values]);
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
    for (const { stop } of this.drawn.values()) stop();
  }

  // Drawing

  private draw(): void {
    const { runs, say } = this;
    this.fetchSamples();
    refill(this.runsList, ...runs.map((run, at) => this.drawRun(run, at)));
    this.drawCharts();
    this.drawAlarmList();
    this.drawEvents();
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
    for (const [name, { element, stop }] of this.drawn) {
      if (charts.some((data) => data.name === name)) continue;
      stop();
      element.remove();
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

  /** Charts stay in their elements, so that a drag goes on while they are drawn again. Those out of sight are left. */
  private show(data: ChartData, width: number): void {
    const known = this.drawn.get(data.name);
    const chart = known ?? this.makeChart(data);
    chart.data = data;
    if (!known) this.charts.append(chart.element);
    const plan = planCurves(...this.plot(data, width, SCREEN));
    chart.plan = plan;
    chart.frame.replaceChildren(drawFrame(plan));
    paintCurves(chart.canvas, plan);
  }

  private makeChart(data: ChartData): Chart {
    const canvas = make("canvas", { "aria-hidden": "true" });
    const frame = make("div", { class: "frame" });
    const cursor = make("div", { class: "cursor", hidden: true });
    const element = make("figure", { class: "chart", "data-chart": data.name }, frame, canvas, cursor);
    const chart: Chart = { element, canvas, frame, cursor, data, plan: null, stop: () => {} };
    const step = (x: number): number => chart.plan?.across.back(x) ?? 0;
    let from: number | null = null; // where a drag over all steps began
    const stop = listen(element, {
      zoom: (x, _, factor) => this.zoomAt(step(x), factor),
      pan: (dx) => {
        if (this.options.now.at !== null && from === null) this.pan(step(0) - step(dx));
      },
      hover: (x) => this.point(element, Math.round(step(x))),
      leave: () => this.point(element, null),
      tap: (x, y) => this.tap(chart, x, y),
    });
    const life = new AbortController();
    const { signal } = life;
    const brush = make("div", { class: "brush", hidden: true });
    element.append(brush);
    const stretch = (event: PointerEvent): readonly [number, number] => {
      const { x } = pointIn(element, event);
      return [Math.min(from!, x), Math.max(from!, x)];
    };
    const down = (event: PointerEvent): void => {
      if (event.button === 0 && event.pointerType !== "touch" && this.options.now.at === null)
        from = pointIn(element, event).x;
    };
    const move = (event: PointerEvent): void => {
      if (from === null) return;
      const [left, right] = stretch(event);
      brush.hidden = right - left < 6;
      brush.style.setProperty("left", `${left}px`);
      brush.style.setProperty("width", `${right - left}px`);
    };
    const up = (event: PointerEvent): void => {
      if (from === null) return;
      const [left, right] = stretch(event);
      from = null;
      brush.hidden = true;
      if (right - left >= 6)
        this.options.set({ at: writeSpan(step(left), step(right) - step(left), this.whole()) });
    };
    element.addEventListener("pointerdown", down, { signal });
    element.addEventListener("pointermove", move, { signal });
    element.addEventListener("pointerup", up, { signal });
    element.addEventListener("dblclick", () => this.zoom(0), { signal });
    chart.stop = () => {
      stop();
      life.abort();
    };
    this.drawn.set(data.name, chart);
    return chart;
  }

  private plot(data: ChartData, width: number, ink: Inks): Parameters<typeof planCurves> {
    const { stage, say } = this;
    const { smoothing, logy, logx } = this.options.now;
    const several = this.runs.length > 1;
    const curves = data.series.flatMap((series): Curve[] => {
      const { steps, values, low, high } = series;
      const curve = {
        name: this.nameOf(series, several),
        ink: this.inkOf(data, series),
        steps,
        values,
        dashed: series.split !== "train",
      };
      if (smoothing === 0 || series.split !== "train") return [{ ...curve, low, high }];
      return [
        { ...curve, low, high, faint: true },
        { ...curve, values: this.smoothValues(series, smoothing) },
      ];
    });
    const look = {
      width,
      height: TALL,
      inks: ink,
      title: say.chart(data.name),
      span: this.span(),
      logX: logx,
      logY: logy,
      marks: data.name === "loss" ? this.marks(ink) : [],
      focus: stage.selection.get().step,
      legend: this.legend(data, curves, ink),
    };
    return [curves, look];
  }

  private smoothValues(series: Series, kept: number): Float64Array {
    const known = this.smooth.get(series);
    if (known?.kept === kept) return known.values;
    const values = smoothed(series, kept);
    this.smooth.set(series, { kept, values });
    return values;
  }

  /** Curves with their last values; several runs have their colours above the charts, and dashes tell splits apart. */
  private legend(
    { series }: ChartData,
    curves: readonly Curve[],
    { soft }: Inks,
  ): CurvePlan["look"]["legend"] {
    if (this.runs.length > 1) {
      const splits = [...new Set(series.map(({ split }) => split))];
      return splits.map((split) => ({ name: this.say.split(split), ink: soft, dashed: split !== "train" }));
    }
    const step = this.stage.selection.get().step ?? this.span()[1];
    return curves
      .filter(({ faint }) => !faint)
      .map((curve) => ({ ...curve, name: `${curve.name} ${digits(valueNear(curve, step)?.[1])}` }));
  }

  private marks(paper: Inks): CurveMark[] {
    const { stage, common } = this;
    const several = this.runs.length > 1;
    return this.runs.flatMap((run, at) =>
      run.alarm_list.map(({ first_step, last_step, message }) => ({
        step: first_step,
        until: last_step,
        text: `${common.stepIs(count(first_step))}: ${stage.text(message)}`,
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
    return [...id, ...(part === "" ? [say.split(split)] : [part])].join(" · ");
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

  // Alarms and events

  private allAlarms(): { readonly alarm: RunAlarm; readonly run: number }[] {
    return this.runs
      .flatMap(({ alarm_list }, run) => alarm_list.map((alarm) => ({ alarm, run })))
      .sort((a, b) => a.alarm.first_step - b.alarm.first_step);
  }

  private drawAlarmList(): void {
    const { stage, common } = this;
    const several = this.runs.length > 1;
    const { step } = stage.selection.get();
    const items = this.allAlarms()
      .reverse()
      .slice(0, MOST_LISTED)
      .map(({ alarm, run }) => ({
        key: `alarm ${this.runs[run]!.id} ${alarm.first_step} ${alarm.cause}`,
        name: stage.text({
          code: `term.${alarm.cause.replaceAll("_", " ")}`,
          parameters: {},
          default: alarm.cause,
        }),
        when: common.steps(count(alarm.first_step), count(alarm.last_step)),
        end: alarm.passed_at === null ? common.open : common.passed(count(alarm.passed_at)),
        open: alarm.passed_at === null,
        text: stage.text(alarm.message),
        run: several ? { name: this.runs[run]!.id, ink: headColour(run, stage.theme) } : null,
        chosen: alarm.first_step === step,
        show: () => this.focus(alarm.first_step),
        heads: alarm.heads.map(({ place, heads }) => ({
          text: common.headsOf(
            this.names.mapName(place.stack, place.layer, place.kind === "cross"),
            heads.map((head) => `H${head}`).join(" "),
          ),
          title: common.openHeads,
          show: () => {
            const { "learning.run": _, ...options } = stage.selection.get().options;
            stage.selection.set({
              options: run === 0 ? options : { ...options, "learning.run": String(run) },
              view: "learning",
              place: { stack: place.stack, kind: place.kind, layer: place.layer, step: null },
              ...(heads[0] === undefined ? {} : { head: heads[0] }),
              step: alarm.first_step,
            });
          },
        })),
      }));
    refill(
      this.alarms,
      make("h2", {}, common.alarms),
      items.length === 0 ? make("p", {}, common.noAlarms) : drawAlarms(items),
    );
  }

  private drawEvents(): void {
    const { say, stage, common } = this;
    const several = this.runs.length > 1;
    const items = this.runs
      .flatMap((run) => run.events.map((event) => ({ event, run })))
      .sort((a, b) => b.event.step - a.event.step)
      .slice(0, MOST_LISTED)
      .map(({ event, run }) => {
        const words = `${several ? `${run.id}: ` : ""}${stage.text(event.message)}`;
        const go = button(common.stepIs(count(event.step)), () => this.focus(event.step));
        go.classList.add("small", "quiet");
        go.dataset.key = `event ${run.id} ${event.step} ${event.kind}`;
        return make("li", { "data-kind": event.kind }, go, make("span", {}, words));
      });
    refill(
      this.events,
      make(
        "details",
        { "data-key": "events" },
        make("summary", { "data-key": "events summary" }, `${say.events} (${count(items.length)})`),
        make("ul", {}, ...items),
      ),
    );
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

  /** A tap on a mark opens its alarm; elsewhere it chooses a step. */
  private tap({ data, plan }: Chart, x: number, y: number): void {
    if (!plan) return;
    const marks = data.name === "loss" && y <= MARKS ? plan.look.marks : [];
    const distance = ({ step }: CurveMark): number => Math.abs(plan.across(step) - x);
    const near = marks.filter((mark) => distance(mark) <= NEAR).sort((a, b) => distance(a) - distance(b))[0];
    this.focus(near?.step ?? Math.round(plan.across.back(x)));
    if (near) this.openAlarm();
  }

  /** Bring the alarm of the step in focus into sight, and say it. */
  private openAlarm(): void {
    const { step } = this.stage.selection.get();
    const found = this.allAlarms().find(({ alarm }) => alarm.first_step === step);
    if (!found) return;
    this.drawAlarmList();
    this.alarms.querySelector("[data-chosen]")?.scrollIntoView?.({ block: "nearest" });
    this.stage.announce(`${this.common.stepIs(count(step!))}: ${this.stage.text(found.alarm.message)}`);
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
      const steps = this.allAlarms().map((each) => each.alarm.first_step);
      const next =
        alarm > 0
          ? steps.find((each) => each > (step ?? -1))
          : steps.findLast((each) => each < (step ?? Infinity));
      if (next === undefined) return;
      this.focus(next);
      this.openAlarm();
    } else if (event.key === "Escape") this.stage.selection.set({ step: null });
    else return;
    consume(event);
  }

  private point(element: HTMLElement, step: number | null): void {
    this.tasks.frame(() => {
      for (const { cursor, plan } of this.drawn.values()) {
        cursor.hidden = step === null;
        if (step !== null && plan)
          cursor.style.setProperty("transform", `translateX(${Math.round(plan.across(step))}px)`);
      }
      if (step === null) this.tooltip.hide();
      else this.showValues(element, step);
    }, "hover");
  }

  private showValues(element: HTMLElement, step: number): void {
    const chart = this.drawn.get(element.dataset.chart ?? "");
    if (!chart?.plan) return;
    const lines = chart.data.series.map((series) => {
      const near = valueNear(series, step);
      const name = this.nameOf(series, this.runs.length > 1);
      const dot = make("span", { class: "dot", style: { background: this.inkOf(chart.data, series) } });
      return make(
        "div",
        { class: "reading" },
        dot,
        `${name}: ${digits(near?.[1])}`,
        make("span", { class: "state" }, ` ${this.say.atStep(count(Math.round(near?.[0] ?? 0)))}`),
      );
    });
    this.tooltip.fill(...lines);
    this.tooltip.show(element.offsetLeft + chart.plan.across(step), element.offsetTop + 40);
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
    return [this.common.stepIs(count(step)), ...words];
  }
}
