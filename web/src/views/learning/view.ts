/**
 * Heads in training: one statistic of every head at every look of the monitor, and the curve of the head in focus.
 *
 * In:   a run; the map, head and step in focus; options "learning.…".
 * Out:  heads by steps as coloured cells or as small curves, curves of the heads of one map, the alarms about heads.
 */

import type { RunDescription, RunMap } from "../../api/types";
import { count, digits } from "../../core/formats";
import { integer, oneOf, optional, text } from "../../core/options";
import { samePlace } from "../../core/place";
import { nearestStep } from "../../core/probes";
import { MountedRuns, type RunSetting, runView } from "../../core/run_view";
import { isSpan, readSpan, type StepSpan, writeSpan, zoomSpan } from "../../core/step_span";
import type { Mounted, TableData } from "../../core/view";
import { RunNumbers } from "../../data/run_numbers";
import { liveWords } from "../../i18n/core";
import { type RunWords, words as runWords } from "../../i18n/runs";
import { drawAlarms } from "../../marks/alarms";
import { type ColourScale, colourScale, showColourBar, spell } from "../../marks/cells";
import { headColour } from "../../marks/colours";
import { button, type Control, choice, list } from "../../marks/controls";
import { type Curve, drawCurves, drawFrame, paintCurves, planCurves } from "../../marks/curves";
import { listen } from "../../marks/gestures";
import { ARROWS, consume, ZOOMS } from "../../marks/keys";
import { draw, make, relabel } from "../../marks/make";
import { type Inks, inks, SCREEN, sheet } from "../../marks/paper";
import { refill } from "../../marks/refill";
import { Tooltip } from "../../marks/tooltip";
import {
  type Block,
  drawGrid,
  type GridLook,
  type HeadAlarm,
  LEFT,
  lookAt,
  paintGrid,
  planGrid,
  RIGHT,
  reachOf,
  type Spot,
} from "./grid";
import { drawMultiples } from "./multiples";
import { type Words, words } from "./words";
import "./style.css";

type Form = "cells" | "curves";

interface LearningOptions {
  readonly statistic: string;
  readonly run: number; // its place among those that are open
  readonly as: Form;
  readonly at: string | null; // "100-2000": the steps that are shown
}

const USUAL = "entropy_share";
const TALL = 220; // pixels of the chart
const COLUMN = 3; // pixels of the narrowest column of cells
const MOST_ROWS = 5000; // of the data table
const SHARES = ["entropy_share", "peak", "sink", "induction"]; // from 0 to 1

export const view = runView<Words, LearningOptions>({
  name: "learning",
  order: 112,
  words,
  options: {
    statistic: text(USUAL, (value) => /^[a-z_]{1,40}$/.test(value)),
    run: integer(0, 0, 99),
    as: oneOf<Form>(["cells", "curves"], "cells"),
    at: optional(text("", isSpan)),
  },
  fits: () => true,
  mount: (setting) => new Learning(setting),
});

class Learning extends MountedRuns<Words, LearningOptions> implements Mounted {
  private readonly common: RunWords = liveWords(runWords, () => this.stage.language);
  private readonly bar = make("div", { class: "drawn-bar" });
  private readonly meaning = make("p", { class: "meaning" });
  private readonly legend = draw("svg", { width: 210, height: 30, role: "img" });
  private readonly canvas = make("canvas", { "aria-hidden": "true" });
  private readonly frame = make("div", { class: "frame" });
  private readonly cells = make(
    "div",
    { class: "cells", tabindex: 0, role: "group", "aria-label": () => this.say.grid },
    this.canvas,
    this.frame,
  );
  private readonly note = make("p", { class: "note", role: "status" });
  private readonly lines = make("canvas", { "aria-hidden": "true" });
  private readonly axes = make("div", { class: "frame" });
  private readonly chart = make("figure", { class: "chart" }, this.axes, this.lines);
  private readonly alarms = make("section", { class: "alarms" });
  private readonly tooltip: Tooltip;
  private readonly stopListening: () => void;
  private readonly all: HTMLButtonElement;
  private readonly numbers: RunNumbers;
  private statistic: Control<string> | null = null;
  private form: Control<Form> | null = null;
  private offered = ""; // what can be chosen
  private find: (x: number, y: number) => Spot | null = () => null;

  constructor(setting: RunSetting<Words, LearningOptions>) {
    super(setting);
    const host = make("div", { class: "plot" }, this.cells);
    this.tooltip = new Tooltip(host);
    this.numbers = new RunNumbers(
      this.tasks,
      () => [this.run],
      async (run, range, points) =>
        run.run.id === this.run.id && this.maps().length > 0 ? run.heads(this.name, range, points) : {},
      () => this.draw(),
    );
    this.all = button(
      () => this.say.allSteps,
      () => this.zoom(0),
    );
    this.stopListening = listen(this.cells, {
      zoom: (x, _, factor) => this.zoomAt(this.stepAt(x), factor),
      pan: (dx) => this.pan(this.stepAt(0) - this.stepAt(dx)),
      hover: (x, y) => this.point(x, y),
      leave: () => this.tooltip.hide(),
      tap: (x, y) => this.choose(this.find(x, y)),
    });
    this.cells.addEventListener("keydown", (event) => this.press(event));
    this.cells.addEventListener("dblclick", () => this.zoom(0));
    this.stage.element.replaceChildren(
      make(
        "div",
        { class: "drawn learning-view" },
        this.bar,
        this.meaning,
        this.note,
        host,
        this.chart,
        this.alarms,
      ),
    );
    this.draw();
  }

  update(): void {
    this.want(); // now: a picture waits for what is asked
    this.tasks.frame(() => this.draw(), "draw");
  }

  news(): void {
    this.draw();
  }

  resize(): void {
    this.draw();
  }

  restyle(): void {
    this.offered = ""; // names of statistics are in another language
    relabel(this.stage.element);
    this.draw();
  }

  zoom(direction: -1 | 0 | 1): void {
    const [first, last] = this.span();
    if (direction === 0) this.options.set({ at: null });
    else this.zoomAt(this.stage.selection.get().step ?? (first + last) / 2, direction > 0 ? 2 : 0.5);
  }

  async picture(): Promise<string> {
    const { theme } = this.stage;
    const width = 720;
    const blocks = this.blocks();
    const ink = inks(theme);
    const { element, height } = this.drawHeads(blocks, width, ink);
    const curves = this.curves(blocks);
    const chart = curves && drawCurves(curves, this.chartLook(blocks, width, ink)).element;
    const body =
      spell(element) + (chart ? `<g transform="translate(0 ${height + 12})">${spell(chart)}</g>` : "");
    const title = `${this.say.title} · ${this.say.statisticName(this.name)}`;
    const caption = [`${this.run.id}: ${this.say.meaning(this.name)}`];
    return sheet({ width, height: height + 12 + (chart ? TALL : 0), body, title, caption, theme });
  }

  async table(): Promise<TableData> {
    const rows: (string | number | null)[][] = [];
    for (const { map, steps, values } of this.blocks())
      values.forEach((each, look) => {
        each.forEach((value, head) => void rows.push([map.place.address, head, steps[look]!, value]));
      });
    const { names, say, common } = this;
    return {
      caption: `${say.statisticName(this.name)}. ${say.meaning(this.name)}`,
      columns: [names.stackColumn, names.headColumn, common.step, say.statisticName(this.name)],
      rows: rows.slice(0, MOST_ROWS),
      more: Math.max(0, rows.length - MOST_ROWS),
    };
  }

  unmount(): void {
    this.stopListening();
  }

  private draw(): void {
    const { run, say } = this;
    this.drawBar();
    this.all.disabled = this.options.now.at === null;
    const empty = run.maps.length === 0;
    for (const part of [this.meaning, this.cells, this.chart, this.alarms, this.legend])
      part.toggleAttribute("hidden", empty);
    if (empty) {
      this.note.textContent = say.noHeads;
      return;
    }
    this.want();
    const width = this.width();
    const blocks = this.blocks();
    this.note.textContent = blocks.length === 0 ? say.loading : "";
    this.meaning.textContent = say.meaning(this.name);
    const isGrid = this.options.now.as === "cells";
    this.canvas.hidden = !isGrid;
    if (isGrid) {
      const plan = planGrid(blocks, this.look(blocks, width, SCREEN));
      this.find = plan.at;
      paintGrid(this.canvas, plan);
      this.frame.replaceChildren(drawGrid(plan, false));
    } else {
      const drawn = this.drawHeads(blocks, width, SCREEN);
      this.find = drawn.at;
      this.frame.replaceChildren(drawn.element);
    }
    showColourBar(this.legend, this.scale(blocks), say.statisticName(this.name));
    this.legend.toggleAttribute("hidden", !isGrid);
    const curves = this.curves(blocks);
    this.chart.hidden = !curves;
    if (curves) {
      const plan = planCurves(curves, this.chartLook(blocks, width, SCREEN));
      paintCurves(this.lines, plan);
      this.axes.replaceChildren(drawFrame(plan));
    }
    this.drawAlarmList();
  }

  private width(): number {
    return Math.max(280, this.cells.clientWidth || 640);
  }

  private want(): void {
    const { id, revision } = this.run;
    const points = Math.max(20, Math.floor((this.width() - LEFT - RIGHT) / COLUMN));
    this.numbers.want({ what: `${id} ${revision} ${this.name}`, span: this.span(), points });
  }

  // What is shown

  private get run(): RunDescription {
    return this.runs[this.options.now.run] ?? this.runs[0]!;
  }

  /** The statistics that this run has. */
  private known(): string[] {
    return [...new Set(this.run.maps.flatMap(({ statistics }) => statistics))];
  }

  /** The statistic that was chosen, or the first that this run has. */
  private get name(): string {
    const known = this.known();
    const { statistic } = this.options.now;
    return known.includes(statistic) ? statistic : (known[0] ?? USUAL);
  }

  private maps(): readonly RunMap[] {
    return this.run.maps.filter(({ statistics }) => statistics.includes(this.name));
  }

  private blocks(): Block[] {
    const series = this.numbers.shown(this.span())?.runs[this.runs.indexOf(this.run)] ?? {};
    const [first, last] = this.span();
    return this.maps().flatMap((map): Block[] => {
      const found = series[map.place.address];
      if (!found) return [];
      const steps = found.last ?? found.first;
      const from = lookAt({ steps }, first);
      const to = lookAt({ steps }, last) + 1;
      return [{ map, steps: steps.slice(from, to), values: found.mean.slice(from, to) }];
    });
  }

  private scale(blocks: readonly Block[]): ColourScale {
    const signed = this.name === "likeness" ? "diverging" : "sequential";
    return colourScale(this.reach(blocks), signed, false, this.stage.theme);
  }

  private reach(blocks: readonly Block[]): readonly [number, number] | null {
    return SHARES.includes(this.name) ? [0, 1] : reachOf(blocks);
  }

  /** The head in focus. */
  private chosen(blocks: readonly Block[]): Spot | null {
    const { place, head, step } = this.stage.selection.get();
    const block = Math.max(
      0,
      blocks.findIndex(({ map }) => samePlace(map.place, place)),
    );
    const found = blocks[block];
    if (!found) return null;
    const look = Math.min(found.steps.length - 1, step === null ? Infinity : lookAt(found, step));
    return { block, head: typeof head === "number" ? Math.min(head, found.map.heads - 1) : 0, look };
  }

  private nameOf({ place }: Pick<RunMap, "place">): string {
    return this.names.mapName(place.stack, place.layer, place.kind === "cross");
  }

  private drawBar(): void {
    const { say, options } = this;
    const known = this.known();
    const offered = [...known, ...this.runs.map(({ id }) => id), this.run.id].join();
    if (offered === this.offered) {
      this.statistic?.set(this.name);
      this.form?.set(options.now.as);
      return;
    }
    this.offered = offered;
    const statistics = known.map((value) => ({ value, text: say.statisticName(value) }));
    this.statistic = list(say.statistic, [{ label: null, options: statistics }], this.name, (statistic) =>
      options.set({ statistic }),
    );
    const runs = this.runs.map(({ id }, at) => ({ value: String(at), text: id }));
    const chooser = list(say.run, [{ label: null, options: runs }], String(options.now.run), (run) =>
      options.set({ run: Number(run) }),
    );
    this.form = choice<Form>(
      () => say.form,
      [
        { value: "cells", text: () => say.asCells },
        { value: "curves", text: () => say.asCurves },
      ],
      options.now.as,
      (as) => options.set({ as }),
    );
    this.bar.replaceChildren(
      this.statistic.element,
      ...(this.runs.length > 1 ? [chooser.element] : []),
      this.form.element,
      this.all,
      this.legend,
    );
  }

  private look(blocks: readonly Block[], width: number, ink: Inks): GridLook {
    return {
      width,
      inks: ink,
      title: `${this.say.statisticName(this.name)}. ${this.say.meaning(this.name)}`,
      scale: this.scale(blocks),
      span: this.span(),
      chosen: this.chosen(blocks),
      focus: this.stage.selection.get().step,
      alarms: this.headAlarms(blocks),
      warn: ink === SCREEN ? "var(--warn)" : ink.accent,
      mapName: (map) => this.nameOf(map),
    };
  }

  /** All heads as a picture: coloured cells, or small curves. */
  private drawHeads(blocks: readonly Block[], width: number, ink: Inks) {
    const look = this.look(blocks, width, ink);
    if (this.options.now.as === "cells") {
      const plan = planGrid(blocks, look);
      return { element: drawGrid(plan, true), height: plan.height, at: plan.at };
    }
    const { theme } = this.stage;
    return drawMultiples(blocks, { ...look, ink: (head) => headColour(head, theme) }, this.reach(blocks));
  }

  /** The heads of the map in focus as curves. */
  private curves(blocks: readonly Block[]): Curve[] | null {
    const chosen = this.chosen(blocks);
    const block = chosen && blocks[chosen.block];
    if (!block) return null;
    return Array.from({ length: block.map.heads }, (_, head) => ({
      name: `H${head}`,
      ink: headColour(head, this.stage.theme),
      steps: block.steps,
      values: block.values.map((row) => row[head] ?? null),
      wide: head === chosen.head,
    }));
  }

  private chartLook(blocks: readonly Block[], width: number, ink: Inks) {
    const { stage, say } = this;
    const { map } = blocks[this.chosen(blocks)!.block]!;
    const marks = this.run.alarm_list
      .filter(({ heads }) => heads.some(({ place }) => samePlace(place, map.place)))
      .map(({ first_step, last_step, message }) => ({
        step: first_step,
        until: last_step,
        text: stage.text(message),
        ink: ink === SCREEN ? "var(--warn)" : ink.accent,
      }));
    return {
      width,
      height: TALL,
      inks: ink,
      title: say.curve(say.statisticName(this.name), this.nameOf(map)),
      span: this.span(),
      logX: false,
      logY: false,
      marks,
      focus: stage.selection.get().step,
    };
  }

  private headAlarms(blocks: readonly Block[]): HeadAlarm[] {
    return this.run.alarm_list.flatMap(({ heads, first_step, last_step, message }) =>
      heads.flatMap(({ place, heads: numbers }) => {
        const block = blocks.findIndex(({ map }) => samePlace(map.place, place));
        const text = this.stage.text(message);
        return block < 0
          ? []
          : numbers.map((head) => ({ block, head, first: first_step, last: last_step, text }));
      }),
    );
  }

  private drawAlarmList(): void {
    const { stage, common } = this;
    const { place: now, step } = stage.selection.get();
    const items = this.run.alarm_list
      .filter(({ heads }) => heads.length > 0)
      .map((alarm) => {
        const go = ({ place, heads }: (typeof alarm.heads)[number]): void =>
          stage.selection.set({
            place: { stack: place.stack, kind: place.kind, layer: place.layer, step: null },
            ...(heads[0] === undefined ? {} : { head: heads[0] }),
            step: alarm.first_step,
          });
        const cause = alarm.cause.replaceAll("_", " ");
        return {
          key: `alarm ${alarm.first_step} ${cause}`,
          name: stage.text({ code: `term.${cause}`, parameters: {}, default: cause }),
          when: common.steps(count(alarm.first_step), count(alarm.last_step)),
          end: alarm.passed_at === null ? common.open : common.passed(count(alarm.passed_at)),
          open: alarm.passed_at === null,
          text: stage.text(alarm.message),
          run: null,
          chosen: alarm.first_step === step && alarm.heads.some(({ place }) => samePlace(place, now)),
          show: () => go(alarm.heads[0]!),
          heads: alarm.heads.map((each) => ({
            text: common.headsOf(this.nameOf(each), each.heads.map((head) => `H${head}`).join(" ")),
            title: common.openHeads,
            show: () => go(each),
          })),
        };
      });
    refill(
      this.alarms,
      make("h2", {}, this.say.alarms),
      items.length > 0 ? drawAlarms(items.reverse()) : make("p", {}, common.noAlarms),
    );
  }

  // Steps

  private whole(): StepSpan {
    return [0, Math.max(1, this.run.last_step)];
  }

  private span(): StepSpan {
    return readSpan(this.options.now.at, this.whole());
  }

  /** The step at a place across the cells. */
  private stepAt(x: number): number {
    const [first, last] = this.span();
    const room = Math.max(1, (this.cells.clientWidth || 640) - LEFT - RIGHT);
    return first + ((x - LEFT) / room) * (last - first);
  }

  private zoomAt(step: number, factor: number): void {
    this.options.set({ at: zoomSpan(this.span(), step, factor, this.whole()) });
  }

  private pan(by: number): void {
    const [first, last] = this.span();
    this.options.set({ at: writeSpan(first + by, last - first, this.whole()) });
  }

  // Pointing and choosing

  private point(x: number, y: number): void {
    const spot = this.find(x, y);
    if (spot === null) {
      this.tooltip.hide();
      return;
    }
    const hint = this.run.probes.length > 0 ? [make("span", { class: "hint" }, this.say.watch)] : [];
    this.tooltip.fill(make("span", {}, this.read(spot)), ...hint);
    this.tooltip.show(x, y);
  }

  private read({ block, head, look }: Spot): string {
    const found = this.blocks()[block]!;
    const value = found.values[look]?.[head] ?? null;
    const name = this.names.headOf(this.nameOf(found.map), head);
    return this.say.cell(name, count(found.steps[look]!), value === null ? this.say.none : digits(value));
  }

  private choose(spot: Spot | null): void {
    const found = spot && this.blocks()[spot.block];
    if (!found) return;
    const { stack, kind, layer } = found.map.place;
    this.stage.selection.set({
      place: { stack, kind, layer, step: null },
      head: spot.head,
      step: found.steps[spot.look] ?? null,
    });
  }

  /** The attention of a head, as it was recorded at the nearest step. */
  private watch({ map, steps }: Block, { head, look }: Spot): void {
    const { probes } = this.run;
    const probe = probes[nearestStep(probes, steps[look] ?? 0)];
    if (!probe) return;
    const { stack, kind, layer } = map.place;
    const place = { stack, kind, layer, step: null };
    this.stage.selection.set({ recording: probe.id, run: "", view: "heatmap", place, head, step: null });
  }

  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const zoom = ZOOMS[event.key];
    const blocks = this.blocks();
    const now = this.chosen(blocks);
    if (event.key === "Enter" && now !== null) {
      this.watch(blocks[now.block]!, now);
      consume(event);
      return;
    }
    if (zoom !== undefined) {
      this.zoom(zoom);
      consume(event);
      return;
    }
    const arrow = ARROWS[event.key];
    if (arrow === undefined || now === null) return;
    const [down, right] = arrow;
    let [block, head] = [now.block, now.head + down];
    if (head < 0 && block > 0) head = blocks[--block]!.map.heads - 1;
    else if (head >= blocks[block]!.map.heads && block + 1 < blocks.length) [block, head] = [block + 1, 0];
    const found = blocks[block]!;
    const spot = {
      block,
      head: Math.max(0, Math.min(found.map.heads - 1, head)),
      look: Math.max(0, Math.min(found.steps.length - 1, now.look + right)),
    };
    this.choose(spot);
    this.stage.announce(this.read(spot));
    consume(event);
  }
}
