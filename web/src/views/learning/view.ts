/**
 * Heads in training: one statistic of every head at every look of the monitor, and the curve of the head in focus.
 *
 * In:   a run; the map, head and step in focus; options "learning.…".
 * Out:  heads by steps as coloured cells, curves of the heads of one map, the alarms that name it.
 */

import type { RunDescription, RunHeads } from "../../api/types";
import { count, digits } from "../../core/formats";
import { integer, text } from "../../core/options";
import { samePlace } from "../../core/place";
import { MountedRuns, type RunSetting, runView } from "../../core/run_view";
import type { Mounted, TableData } from "../../core/view";
import { type ColourScale, colourScale, showColourBar, spell } from "../../marks/cells";
import { headColour } from "../../marks/colours";
import { type Control, list } from "../../marks/controls";
import { type Curve, drawCurves } from "../../marks/curves";
import { listen } from "../../marks/gestures";
import { ARROWS, consume } from "../../marks/keys";
import { draw, make, relabel } from "../../marks/make";
import { type Inks, inks, SCREEN, sheet } from "../../marks/paper";
import { Tooltip } from "../../marks/tooltip";
import { type DrawnGrid, drawGrid, reachOf, type Spot } from "./grid";
import { type Words, words } from "./words";
import "./style.css";

interface LearningOptions {
  readonly statistic: string;
  readonly run: number; // its place among those that are open
}

const USUAL = "entropy_share";
const TALL = 220; // pixels of the chart
const MOST_ROWS = 5000; // of the data table

export const view = runView<Words, LearningOptions>({
  name: "learning",
  order: 112,
  words,
  options: { statistic: text(USUAL, (value) => /^[a-z_]{1,40}$/.test(value)), run: integer(0, 0, 99) },
  fits: () => true,
  mount: (setting) => new Learning(setting),
});

class Learning extends MountedRuns<Words, LearningOptions> implements Mounted {
  private readonly bar = make("div", { class: "drawn-bar" });
  private readonly meaning = make("p", { class: "meaning" });
  private readonly legend = draw("svg", { width: 210, height: 30, role: "img" });
  private readonly cells = make("div", {
    class: "cells",
    tabindex: 0,
    role: "group",
    "aria-label": () => this.say.grid,
  });
  private readonly chart = make("figure", { class: "chart" });
  private readonly alarms = make("section", { class: "alarms" });
  private readonly tooltip: Tooltip;
  private readonly stopListening: () => void;
  private statistic: Control<string> | null = null;
  private offered = ""; // the statistics that can be chosen
  private grid: DrawnGrid | null = null;

  constructor(setting: RunSetting<Words, LearningOptions>) {
    super(setting);
    const host = make("div", { class: "plot" }, this.cells);
    this.tooltip = new Tooltip(host);
    this.stopListening = listen(this.cells, {
      zoom: () => {},
      pan: () => {},
      hover: (x, y) => this.point(x, y),
      leave: () => this.tooltip.hide(),
      tap: (x, y) => this.choose(this.grid?.at(x, y) ?? null),
    });
    this.cells.addEventListener("keydown", (event) => this.press(event));
    this.stage.element.replaceChildren(
      make("div", { class: "drawn learning-view" }, this.bar, this.meaning, host, this.chart, this.alarms),
    );
    this.draw();
  }

  update(): void {
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

  async picture(): Promise<string> {
    const { theme } = this.stage;
    const width = 720;
    const grid = this.drawCells(width, inks(theme));
    const curves = this.drawHeads(width, inks(theme));
    const body =
      spell(grid.element) +
      (curves ? `<g transform="translate(0 ${grid.height + 12})">${spell(curves)}</g>` : "");
    const title = `${this.say.title} · ${this.say.statisticName(this.name)}`;
    const caption = [`${this.run.id}: ${this.say.meaning(this.name)}`];
    return sheet({ width, height: grid.height + 12 + (curves ? TALL : 0), body, title, caption, theme });
  }

  async table(): Promise<TableData> {
    const rows: (string | number | null)[][] = [];
    for (const block of this.run.heads)
      (block.statistics[this.name] ?? []).forEach((values, look) => {
        values.forEach(
          (value, head) => void rows.push([block.place.address, head, block.steps[look]!, value]),
        );
      });
    const { names, say } = this;
    return {
      caption: `${say.statisticName(this.name)}. ${say.meaning(this.name)}`,
      columns: [names.stackColumn, names.headColumn, say.step, say.statisticName(this.name)],
      rows: rows.slice(0, MOST_ROWS),
      more: Math.max(0, rows.length - MOST_ROWS),
    };
  }

  unmount(): void {
    this.stopListening();
  }

  draw(): void {
    const { run, say, cells } = this;
    this.drawBar();
    if (run.heads.length === 0) {
      this.grid = null;
      cells.replaceChildren(say.noHeads);
      for (const part of [this.meaning, this.legend, this.chart, this.alarms]) part.replaceChildren();
      return;
    }
    this.meaning.textContent = say.meaning(this.name);
    this.grid = this.drawCells(Math.max(280, cells.clientWidth || 640), SCREEN);
    cells.replaceChildren(this.grid.element);
    showColourBar(this.legend, this.scale(), say.statisticName(this.name));
    const curves = this.drawHeads(Math.max(280, cells.clientWidth || 640), SCREEN);
    this.chart.replaceChildren(...(curves ? [curves] : []));
    this.drawAlarms();
  }

  // What is shown

  private get run(): RunDescription {
    return this.runs[this.options.now.run] ?? this.runs[0]!;
  }

  /** The statistic that was chosen, or the first that this run has. */
  private get name(): string {
    const known = Object.keys(this.run.heads[0]?.statistics ?? {});
    const { statistic } = this.options.now;
    return known.includes(statistic) ? statistic : (known[0] ?? USUAL);
  }

  private scale(): ColourScale {
    const share = this.name === "entropy_share" || this.name === "peak" || this.name === "sink";
    const reach = share ? ([0, 1] as const) : reachOf(this.run.heads, this.name);
    const signed = this.name === "likeness" ? "diverging" : "sequential";
    return colourScale(reach, signed, false, this.stage.theme);
  }

  /** The head in focus. */
  private chosen(): Spot | null {
    const { place, head, step } = this.stage.selection.get();
    const map = Math.max(
      0,
      this.run.heads.findIndex((each) => samePlace(each.place, place)),
    );
    const block = this.run.heads[map];
    if (!block) return null;
    const look =
      step === null
        ? block.steps.length - 1
        : Math.max(
            0,
            block.steps.findLastIndex((each) => each <= step),
          );
    return { map, head: typeof head === "number" ? Math.min(head, block.heads - 1) : 0, look };
  }

  private nameOf({ place }: RunHeads): string {
    return this.names.mapName(place.stack, place.layer, place.kind === "cross");
  }

  private drawBar(): void {
    const { say, options } = this;
    const known = Object.keys(this.run.heads[0]?.statistics ?? {});
    const offered = [...known, ...this.runs.map(({ id }) => id)].join();
    if (offered === this.offered) {
      this.statistic?.set(this.name);
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
    this.bar.replaceChildren(
      this.statistic.element,
      ...(this.runs.length > 1 ? [chooser.element] : []),
      this.legend,
    );
  }

  private drawCells(width: number, ink: Inks): DrawnGrid {
    return drawGrid(this.run.heads, this.name, {
      width,
      inks: ink,
      title: `${this.say.statisticName(this.name)}. ${this.say.meaning(this.name)}`,
      scale: this.scale(),
      chosen: this.chosen(),
      focus: this.stage.selection.get().step,
      mapName: (heads) => this.nameOf(heads),
    });
  }

  /** The heads of the map in focus as curves. */
  private drawHeads(width: number, ink: Inks): SVGSVGElement | null {
    const chosen = this.chosen();
    const block = chosen && this.run.heads[chosen.map];
    if (!block) return null;
    const { theme, selection } = this.stage;
    const values = block.statistics[this.name] ?? [];
    const curves = Array.from({ length: block.heads }, (_, head): Curve => {
      const own = values.map((row) => row[head] ?? null);
      const wide = head === chosen.head;
      return {
        name: `H${head}`,
        ink: headColour(head, theme),
        steps: block.steps,
        values: own,
        wide,
      };
    });
    const marks = this.run.events
      .filter(({ kind, place }) => kind === "alarm" && place && samePlace(place, block.place))
      .map(({ step, message }) => ({
        step,
        text: this.stage.text(message),
        ink: ink === SCREEN ? "var(--warn)" : ink.accent,
      }));
    return drawCurves(curves, {
      width,
      height: TALL,
      inks: ink,
      title: this.say.curve(this.say.statisticName(this.name), this.nameOf(block)),
      span: [block.steps[0] ?? 0, block.steps.at(-1) ?? 1],
      logX: false,
      logY: false,
      marks,
      focus: selection.get().step,
    }).element;
  }

  private drawAlarms(): void {
    const { say, stage } = this;
    const chosen = this.chosen();
    const block = chosen && this.run.heads[chosen.map];
    const items = this.run.events
      .filter(({ kind, place }) => kind === "alarm" && place && block && samePlace(place, block.place))
      .map(({ step, message }) => make("li", {}, `${say.stepIs(count(step))}: ${stage.text(message)}`));
    this.alarms.replaceChildren(
      ...(items.length > 0 ? [make("h2", {}, say.alarms), make("ul", {}, ...items)] : []),
    );
  }

  // Pointing and choosing

  private point(x: number, y: number): void {
    const spot = this.grid?.at(x, y) ?? null;
    if (spot === null) {
      this.tooltip.hide();
      return;
    }
    this.tooltip.fill(make("span", {}, this.read(spot)));
    this.tooltip.show(x, y);
  }

  private read({ map, head, look }: Spot): string {
    const block = this.run.heads[map]!;
    const value = block.statistics[this.name]?.[look]?.[head] ?? null;
    const name = this.names.headOf(this.nameOf(block), head);
    return this.say.cell(name, count(block.steps[look]!), value === null ? this.say.none : digits(value));
  }

  private choose(spot: Spot | null): void {
    const block = spot && this.run.heads[spot.map];
    if (!block) return;
    const { stack, kind, layer } = block.place;
    this.stage.selection.set({
      place: { stack, kind, layer, step: null },
      head: spot.head,
      step: block.steps[spot.look] ?? null,
    });
  }

  private press(event: KeyboardEvent): void {
    const arrow = ARROWS[event.key];
    const now = this.chosen();
    if (arrow === undefined || now === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const [down, right] = arrow;
    const { heads } = this.run;
    let [map, head] = [now.map, now.head + down];
    if (head < 0 && map > 0) head = heads[--map]!.heads - 1;
    else if (head >= heads[map]!.heads && map + 1 < heads.length) [map, head] = [map + 1, 0];
    const block = heads[map]!;
    const spot = {
      map,
      head: Math.max(0, Math.min(block.heads - 1, head)),
      look: Math.max(0, Math.min(block.steps.length - 1, now.look + right)),
    };
    this.choose(spot);
    this.stage.announce(this.read(spot));
    consume(event);
  }
}
