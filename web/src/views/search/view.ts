/**
 * Searches for the best configuration: the best one with its evidence, what mattered, and every trial.
 *
 * In:   the searches of the server; options "search.…".
 * Out:  a table of settings, charts and a table of trials. While a search goes on, it is fetched again every few seconds.
 */

import type { SearchDescription, SearchEntry, SearchEstimate, SearchTrial } from "../../api/types";
import { compact, count, digits, figure, percent } from "../../core/formats";
import { flag, Options, text } from "../../core/options";
import { isAbort } from "../../core/tasks";
import type { Mounted, Stage, TableData, View } from "../../core/view";
import { introduce, liveWords } from "../../i18n/core";
import { spell } from "../../marks/cells";
import { button } from "../../marks/controls";
import { draw, drawChart, drawText, make, relabel, write } from "../../marks/make";
import { inks, sheet } from "../../marks/paper";
import { refill } from "../../marks/refill";
import {
  type Axis,
  axesOf,
  bestSoFar,
  isBrush,
  meanOf,
  passes,
  type Range,
  readBrush,
  sortTrials,
  type Value,
  writeBrush,
} from "./shapes";
import { type Words, words } from "./words";
import "./style.css";

const PAUSE = 3000; // ms between two looks while a search goes on
const COMMAND = "glassformer search recipes/search.toml --jobs 4";
const TALL = 190; // pixels of a chart
const AXES = 230; // pixels of the parallel coordinates
const NARROWEST = 78; // pixels between two axes
const MARGIN = { left: 46, right: 14, top: 12, bottom: 24 };
const STEP = 0.1; // of an axis, by a key

const options = {
  id: text("", (value) => value.length <= 255),
  sort: text(""),
  up: flag(),
  brush: text("", isBrush),
};
type Asked = { id: string; sort: string; up: boolean; brush: string };

export const view: View<"none", Asked> = {
  name: "search",
  order: 109,
  ...introduce(words),
  needs: "none",
  panel: false,
  transport: false,
  options,
  fits: () => true,
  mount: (stage) => new Searches(stage),
};

class Searches implements Mounted {
  private readonly say: Words;
  private readonly options: Options<Asked>;
  private readonly chooser: HTMLSelectElement;
  private readonly head = make("p", { class: "head", role: "status" });
  private readonly note = make("div", { class: "note" });
  private readonly parts = make("div", { class: "parts" });
  private list: readonly SearchEntry[] | null = null;
  private search: SearchDescription | null = null;
  private asked = ""; // the search that was asked for last
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asking = new AbortController(); // of the newest answer that is awaited

  constructor(private readonly stage: Stage<"none">) {
    this.say = liveWords(words, () => stage.language);
    this.options = new Options("search", options, stage.selection);
    this.chooser = make("select", {
      "aria-label": () => this.say.choose,
      onchange: () => this.options.set({ id: this.chooser.value, brush: "", sort: "" }),
    });
    stage.element.replaceChildren(
      make(
        "div",
        { class: "drawn search-view" },
        make("div", { class: "drawn-bar" }, this.chooser, this.head),
        this.note,
        this.parts,
      ),
    );
    this.draw();
    void this.fetchSearch();
  }

  update(): void {
    if (this.list && this.wanted() !== this.asked) void this.fetchSearch();
    this.draw();
  }

  resize(): void {
    this.draw();
  }

  restyle(): void {
    relabel(this.stage.element);
    this.draw();
  }

  unmount(): void {
    clearTimeout(this.timer);
    this.asking.abort();
    this.stage.element.replaceChildren();
  }

  async picture(): Promise<string> {
    const { theme } = this.stage;
    const { search, say } = this;
    if (!search) return sheet({ width: 400, height: 20, body: "", title: say.title, caption: [], theme });
    const ink = inks(theme);
    const group = draw("g");
    const history = this.history(search, 640, ink.accent, ink.soft);
    const axes = this.parallel(search, axesOf(search), 640, ink.accent, ink.soft);
    group.append(draw("g", {}, ...history.children));
    group.append(draw("g", { transform: `translate(0 ${TALL + 20})` }, ...axes.children));
    const caption = [this.headline(search), this.bestLine(search)];
    const height = TALL + 20 + AXES;
    return sheet({
      width: 640,
      height,
      body: spell(group),
      title: `${say.title}: ${search.id}`,
      caption,
      theme,
    });
  }

  async table(): Promise<TableData> {
    const { search, say } = this;
    const names = search?.objectives.map(({ name }) => name) ?? [];
    const settings = search?.parameters.map(({ name }) => name) ?? [];
    const rows = this.sorted().map((trial) => [
      trial.number,
      trial.state,
      ...names.map((name) => meanOf(trial, name)),
      ...settings.map((name) => {
        const value = trial.parameters[name] ?? null;
        return typeof value === "boolean" ? String(value) : value;
      }),
      trial.reason ? this.stage.text(trial.reason) : null,
      trial.runs.map(({ run }) => run).join(" "),
    ]);
    const columns = [say.trial, say.stateColumn, ...names, ...settings, say.reason, say.runsColumn];
    return { caption: say.about, columns, rows };
  }

  // Fetching

  private wanted(): string {
    return this.options.now.id || (this.list?.[0]?.id ?? "");
  }

  private async fetchSearch(): Promise<void> {
    clearTimeout(this.timer);
    this.asking.abort();
    this.asking = new AbortController();
    const { runs } = this.stage;
    const { signal } = this.asking;
    if (!runs?.searches || !runs.search) return;
    try {
      const list = await runs.searches(signal);
      if (signal.aborted) return;
      this.list = list;
      this.asked = this.wanted();
      const found = this.asked === "" ? null : await runs.search(this.asked, signal);
      if (signal.aborted) return; // another one was chosen meanwhile
      this.search = found;
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      if (this.search === null || this.search.id !== this.wanted()) {
        this.stage.fail(error);
        return;
      } // a later one is tried again
    }
    this.draw();
    if (this.search?.state === "running") this.timer = setTimeout(() => void this.fetchSearch(), PAUSE);
  }

  // Drawing

  private draw(): void {
    const { say, search, list } = this;
    const label = ({ id, shipped }: SearchEntry): string => (shipped ? say.example(id) : id);
    refill(this.chooser, ...(list ?? []).map((entry) => make("option", { value: entry.id }, label(entry))));
    this.chooser.value = this.wanted();
    this.chooser.hidden = (list?.length ?? 0) === 0;
    write(this.head, search ? this.headline(search) : "");
    refill(this.note, ...this.explain());
    if (!search) {
      this.parts.replaceChildren();
      return;
    }
    const width = Math.max(280, this.parts.clientWidth || 720);
    const wide = width >= 760;
    const half = wide ? (width - 24) / 2 : width;
    refill(
      this.parts,
      this.drawBest(search),
      make("div", { class: "pair" }, this.drawHistory(search, half), this.drawImportance(search)),
      ...(search.objectives.length > 1 ? [this.drawFront(search, half)] : []),
      this.drawParallel(search, width),
      this.drawTrials(search),
    );
  }

  private explain(): (HTMLElement | string)[] {
    if (!this.stage.runs?.searches) return [this.say.notHere];
    if (this.list?.length === 0) return [make("p", {}, this.say.none), make("pre", { tabindex: 0 }, COMMAND)];
    return [];
  }

  private headline(search: SearchDescription): string {
    const minutes = figure(search.seconds / 60, 1);
    return this.say.head(this.say.state(search.state), count(search.trained), count(search.wanted), minutes);
  }

  private bestLine(search: SearchDescription): string {
    const { name } = search.objectives[0]!;
    const best = this.find(search, search.best_trial);
    return best ? this.say.bestOf(String(best.number), name, this.estimate(best.values[name])) : "";
  }

  private find(search: SearchDescription, number: number | null): SearchTrial | undefined {
    return search.trials.find((trial) => trial.number === number);
  }

  /** The best configuration beside the recipe's own, and why to believe it. */
  private drawBest(search: SearchDescription): HTMLElement {
    const { say } = this;
    const best = this.find(search, search.best_trial);
    if (!best) return make("section", { hidden: true });
    const rows = search.parameters.map(({ name, own }) => {
      const value = best.parameters[name] ?? own;
      const changed = this.show(value) !== this.show(own);
      return make(
        "tr",
        { "data-changed": changed },
        make("th", { scope: "row" }, name),
        make("td", {}, this.show(value)),
        make("td", {}, this.show(own)),
      );
    });
    const header = [say.setting, say.bestValue, say.ownValue].map((name) =>
      make("th", { scope: "col" }, name),
    );
    const settings = make(
      "table",
      {},
      make("thead", {}, make("tr", {}, ...header)),
      make("tbody", {}, ...rows),
    );
    return make(
      "section",
      { class: "best" },
      make("h3", {}, say.best),
      make("p", {}, make("strong", {}, this.bestLine(search))),
      make(
        "div",
        { class: "pair" },
        make("div", { class: "scroll" }, settings),
        make("div", {}, ...this.drawEvidence(search), this.drawActions(search, best)),
      ),
    );
  }

  private drawEvidence(search: SearchDescription): HTMLElement[] {
    const { say } = this;
    const [best, own] = search.confirmed;
    const title = make("h4", {}, say.evidence);
    if (!best || !own) {
      const single = (this.find(search, search.best_trial)?.runs.length ?? 0) < 2;
      return single ? [title, make("p", { class: "note" }, say.oneSeed)] : [];
    }
    const header = [say.measure, say.bestValue, say.ownValue, say.difference].map((name) =>
      make("th", { scope: "col" }, name),
    );
    const rows = Object.keys(search.gains).map((name) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, this.measure(name, search)),
        ...[best.values[name], own.values[name], search.gains[name]].map((found) =>
          make("td", {}, this.estimate(found)),
        ),
      ),
    );
    return [
      title,
      make("p", {}, say.confirmed(count(best.runs.length))),
      make(
        "div",
        { class: "scroll" },
        make("table", {}, make("thead", {}, make("tr", {}, ...header)), make("tbody", {}, ...rows)),
      ),
    ];
  }

  /** "test_loss" in words; the names of scores themselves stay. */
  private measure(name: string, search: SearchDescription): string {
    const known = new Set(["parameters", "seconds", "tokens", ...search.objectives.map((each) => each.name)]);
    const [split, ...rest] = name.split("_");
    return known.has(name) || rest.length === 0 ? name : this.say.tested(split!, rest.join("_"));
  }

  private drawActions(search: SearchDescription, best: SearchTrial): HTMLElement {
    const { say } = this;
    const own = this.find(search, search.baseline_trial);
    const recipe =
      search.best_recipe !== "" &&
      make(
        "details",
        { "data-key": "recipe" },
        make("summary", { "data-key": "recipe summary" }, say.showRecipe),
        make("pre", { tabindex: 0, "data-key": "recipe text" }, search.best_recipe),
      );
    const openers = search.shipped
      ? [make("p", { class: "note" }, say.runsElsewhere)]
      : [
          ...(best.runs[0] ? [this.opener(best.runs[0].run, say.openRun)] : []),
          ...(own?.runs[0] && own !== best ? [this.opener(own.runs[0].run, say.openOwn)] : []),
        ];
    return make("div", { class: "actions" }, ...openers, recipe);
  }

  private opener(run: string, label: string): HTMLButtonElement {
    const opener = button(label, () => this.open(run));
    opener.dataset.key = `open ${run}`;
    return opener;
  }

  private drawHistory(search: SearchDescription, width: number): HTMLElement {
    const chart = this.history(search, width, "var(--accent)", "var(--ink-soft)");
    return this.figure(this.say.history, chart);
  }

  private drawFront(search: SearchDescription, width: number): HTMLElement {
    const [first, second] = search.objectives;
    const label = this.say.front(first!.name, second!.name);
    return this.figure(label, this.front(search, width, "var(--accent)", "var(--ink-soft)"));
  }

  private figure(title: string, ...content: (Element | string)[]): HTMLElement {
    return make("section", {}, make("h3", {}, title), make("div", { class: "scroll" }, ...content));
  }

  /** A dot for each trial over its number; a line through the best so far. */
  private history(search: SearchDescription, width: number, accent: string, soft: string): SVGSVGElement {
    const { name } = search.objectives[0]!;
    const shown = search.trials.filter((trial) => meanOf(trial, name) !== null);
    const points = shown.map((trial) => ({ x: trial.number, y: meanOf(trial, name)!, trial }));
    const best = bestSoFar(search).map(({ number, value }) => ({ x: number, y: value }));
    return this.scatter(this.say.history, points, best, search, {
      width,
      accent,
      soft,
      names: [this.say.trial, name],
    });
  }

  private front(search: SearchDescription, width: number, accent: string, soft: string): SVGSVGElement {
    const [first, second] = search.objectives;
    const points = search.trials.flatMap((trial) => {
      const [x, y] = [meanOf(trial, second!.name), meanOf(trial, first!.name)];
      return x === null || y === null ? [] : [{ x, y, trial }];
    });
    const front = points
      .filter(({ trial }) => search.pareto.includes(trial.number))
      .sort((a, b) => a.x - b.x);
    const label = this.say.front(first!.name, second!.name);
    return this.scatter(label, points, front, search, {
      width,
      accent,
      soft,
      names: [second!.name, first!.name],
    });
  }

  private scatter(
    label: string,
    points: readonly { x: number; y: number; trial: SearchTrial }[],
    line: readonly { x: number; y: number }[],
    search: SearchDescription,
    look: { width: number; accent: string; soft: string; names: readonly [string, string] },
  ): SVGSVGElement {
    const { width, accent, soft } = look;
    const reach = (values: readonly number[]): readonly [number, number] => {
      const [low, high] = [Math.min(...values), Math.max(...values)];
      return low < high ? [low, high] : [low - 0.5, high + 0.5];
    };
    const chart = drawChart(width, TALL, label);
    if (points.length === 0) return chart;
    const [x0, x1] = reach(points.map(({ x }) => x));
    const [y0, y1] = reach(points.map(({ y }) => y));
    const across = (x: number): number =>
      MARGIN.left + ((x - x0) / (x1 - x0)) * (width - MARGIN.left - MARGIN.right);
    const down = (y: number): number =>
      TALL - MARGIN.bottom - ((y - y0) / (y1 - y0)) * (TALL - MARGIN.top - MARGIN.bottom);
    const path = line.map(({ x, y }, at) => `${at === 0 ? "M" : "L"}${across(x)} ${down(y)}`).join("");
    chart.append(
      drawText(digits(y1, 3), 0, MARGIN.top + 4, soft),
      drawText(digits(y0, 3), 0, TALL - MARGIN.bottom, soft),
      drawText(compact(x0, this.stage.language), MARGIN.left, TALL - 6, soft),
      drawText(compact(x1, this.stage.language), width - MARGIN.right, TALL - 6, soft, "end"),
      drawText(look.names[0], (width + MARGIN.left) / 2, TALL - 6, soft, "middle"),
      draw("path", { d: path, fill: "none", stroke: accent, "stroke-width": 1.5 }),
    );
    for (const { x, y, trial } of points) {
      const whole = trial.state === "complete";
      const about = `${this.say.trial} ${trial.number}, ${this.say.state(trial.state)}: ${digits(y)}`;
      chart.append(
        draw(
          "circle",
          {
            cx: across(x),
            cy: down(y),
            r: trial.number === search.best_trial ? 6 : 4,
            fill: trial.baseline ? soft : whole ? accent : "none",
            stroke: trial.baseline || !whole ? soft : accent,
          },
          draw("title", {}, about),
        ),
      );
    }
    return chart;
  }

  private drawImportance(search: SearchDescription): HTMLElement {
    const { name } = search.objectives[0]!;
    const shares = search.parameters
      .map((parameter) => ({ name: parameter.name, share: parameter.importance[name] ?? null }))
      .filter((each): each is { name: string; share: number } => each.share !== null)
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
      make("h3", {}, this.say.importance(name)),
      make("table", {}, make("tbody", {}, ...rows)),
      make("p", { class: "note" }, this.say.importanceNote),
    );
  }

  // Parallel coordinates

  private drawParallel(search: SearchDescription, width: number): HTMLElement {
    const { say } = this;
    const axes = axesOf(search);
    const whole = Math.max(width, NARROWEST * axes.length);
    const chart = this.parallel(search, axes, whole, "var(--accent)", "var(--ink-soft)");
    this.listen(chart, axes);
    const ranges = this.ranges();
    const drawn = search.trials.filter((trial) => meanOf(trial, search.objectives[0]!.name) !== null);
    const kept = drawn.filter((trial) => passes(trial, axes, ranges));
    const clear = button(
      () => say.clear,
      () => this.options.set({ brush: "" }),
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

  private ranges(): Map<string, Range> {
    return readBrush(this.options.now.brush);
  }

  private parallel(
    search: SearchDescription,
    axes: readonly Axis[],
    width: number,
    accent: string,
    soft: string,
  ): SVGSVGElement {
    const chart = drawChart(width, AXES, null);
    chart.removeAttribute("aria-hidden");
    const ranges = this.ranges();
    const x = (at: number): number => axisX(at, axes.length, width);
    const y = axisY;
    const order = [...search.trials].sort(
      (first, second) => this.weight(search, first) - this.weight(search, second),
    );
    for (const trial of order) {
      const places = axes.map((axis) => axis.place(trial));
      if (places.at(-1) === null) continue;
      const points = places.flatMap((place, at) => (place === null ? [] : [`${x(at)} ${y(place)}`]));
      const kept = passes(trial, axes, ranges);
      const isBest = trial.number === search.best_trial;
      chart.append(
        draw(
          "path",
          {
            d: `M${points.join("L")}`,
            fill: "none",
            stroke: isBest ? accent : soft,
            "stroke-width": isBest ? 2.5 : 1.2,
            "stroke-dasharray": trial.state === "complete" ? null : "3 3",
            opacity: kept ? (isBest ? 1 : 0.6) : 0.08,
            "data-trial": trial.number,
          },
          draw("title", {}, `${this.say.trial} ${trial.number}`),
        ),
      );
    }
    axes.forEach((axis, at) => {
      const short = axis.name.replace(/^.*\./, "");
      const range = ranges.get(axis.name);
      const ends = axis.ticks.map(({ value }) => this.show(value));
      const group = draw("g", {
        tabindex: 0,
        role: "slider",
        class: "axis",
        "data-axis": axis.name,
        "data-key": `axis ${axis.name}`,
        "aria-orientation": "vertical",
        "aria-label": this.say.axis(axis.name, ends[0] ?? "", ends.at(-1) ?? ""),
        "aria-valuemin": 0,
        "aria-valuemax": 1,
        "aria-valuenow": range ? (range[0] + range[1]) / 2 : 0.5,
        "aria-valuetext": range ? this.say.range(percent(range[0]), percent(range[1])) : this.say.wholeRange,
      });
      group.append(
        draw("rect", { x: x(at) - 14, y: y(1), width: 28, height: y(0) - y(1), fill: "transparent" }),
        draw("line", { x1: x(at), x2: x(at), y1: y(0), y2: y(1), stroke: soft }),
      );
      if (range)
        group.append(
          draw("rect", {
            x: x(at) - 6,
            y: y(range[1]),
            width: 12,
            height: Math.max(3, y(range[0]) - y(range[1])),
            fill: accent,
            opacity: 0.35,
          }),
        );
      const anchor = at === 0 ? "start" : at === axes.length - 1 ? "end" : "middle";
      group.append(drawText(short, x(at), 12, soft, anchor, { "font-weight": 600 }));
      for (const tick of axis.ticks) {
        const side = at === axes.length - 1 ? -5 : 5;
        const place = at === axes.length - 1 ? "end" : "start";
        group.append(
          drawText(this.show(tick.value), x(at) + side, y(tick.at) + 4, soft, place, { "font-size": 10 }),
        );
      }
      chart.append(group);
    });
    return chart;
  }

  /** The best trial is drawn last, above the others. */
  private weight(search: SearchDescription, trial: SearchTrial): number {
    return trial.number === search.best_trial ? 2 : Number(trial.state === "complete");
  }

  /** Ranges by dragging and by keys. */
  private listen(chart: SVGSVGElement, axes: readonly Axis[]): void {
    let from: { readonly axis: Axis; readonly at: number } | null = null;
    const share = (event: PointerEvent): number => {
      const box = chart.getBoundingClientRect();
      const scale = box.height ? AXES / box.height : 1;
      return shareAt((event.clientY - box.top) * scale);
    };
    const axisAt = (event: Event): Axis | undefined => {
      const name = (event.target as Element).closest<SVGElement>("[data-axis]")?.dataset.axis;
      return axes.find((axis) => axis.name === name);
    };
    chart.addEventListener("pointerdown", (event) => {
      const axis = axisAt(event);
      if (axis) from = { axis, at: share(event) };
    });
    chart.addEventListener("pointerup", (event) => {
      if (!from) return;
      const to = share(event);
      const range: Range = [Math.min(from.at, to), Math.max(from.at, to)];
      this.chooseRange(from.axis.name, range[1] - range[0] < 0.02 ? null : range);
      from = null;
    });
    chart.addEventListener("keydown", (event) => {
      const axis = axisAt(event);
      const way = { ArrowUp: 1, ArrowDown: -1 }[event.key] ?? 0;
      if (!axis || (way === 0 && event.key !== "Escape")) return;
      event.preventDefault();
      event.stopPropagation();
      if (way === 0) this.chooseRange(axis.name, null);
      else {
        const [low] = this.ranges().get(axis.name) ?? [way > 0 ? -STEP : 1 - 2 * STEP, 1];
        const next = Math.min(1 - 3 * STEP, Math.max(0, low + way * STEP));
        this.chooseRange(axis.name, [next, next + 3 * STEP]);
      }
    });
  }

  private chooseRange(axis: string, range: Range | null): void {
    const ranges = this.ranges();
    if (range) ranges.set(axis, range);
    else ranges.delete(axis);
    this.options.set({ brush: writeBrush(ranges) });
  }

  // Trials

  private sorted(): SearchTrial[] {
    const { search } = this;
    if (!search) return [];
    const { sort, up } = this.options.now;
    const first = search.objectives[0]!;
    const column = sort || first.name;
    const axes = axesOf(search);
    const ranges = this.ranges();
    const kept = search.trials.filter((trial) => ranges.size === 0 || passes(trial, axes, ranges));
    const ascending = sort === "" ? first.direction === "minimize" : up;
    const rows = sortTrials(kept, column, ascending);
    if (sort !== "") return rows;
    // pruned trials were measured earlier: they come after those that were trained to the end
    const rank = (trial: SearchTrial): number => Number(trial.state !== "complete");
    return rows.sort((a, b) => rank(a) - rank(b));
  }

  private drawTrials(search: SearchDescription): HTMLElement {
    const { say } = this;
    const names = search.objectives.map(({ name }) => name);
    const columns = ["trial", "state", ...names, ...search.parameters.map(({ name }) => name)];
    const rows = this.sorted().map((trial) =>
      make(
        "tr",
        { "data-state": trial.state, "data-best": trial.number === search.best_trial },
        make("td", {}, this.drawNumber(search, trial)),
        make("td", {}, say.state(trial.state)),
        ...names.map((name) => make("td", {}, this.estimate(trial.values[name]))),
        ...search.parameters.map(({ name }) => make("td", {}, this.show(trial.parameters[name] ?? null))),
        make("td", { class: "reason" }, trial.reason ? this.stage.text(trial.reason) : ""),
      ),
    );
    const header = make(
      "tr",
      {},
      ...columns.map((name) => this.drawHeading(search, name)),
      make("th", {}, say.reason),
    );
    return make(
      "section",
      { class: "trials" },
      make("h3", {}, say.trials),
      make(
        "div",
        { class: "scroll", tabindex: 0, "data-key": "trials", role: "region", "aria-label": say.trials },
        make("table", { "aria-label": say.trials }, make("thead", {}, header), make("tbody", {}, ...rows)),
      ),
    );
  }

  private drawNumber(search: SearchDescription, trial: SearchTrial): HTMLElement {
    const label = `${trial.number}${trial.baseline ? ` (${this.say.own})` : ""}`;
    const run = trial.runs[0]?.run;
    if (!run || search.shipped) return make("span", {}, label);
    return make(
      "button",
      {
        type: "button",
        class: "run-name",
        title: this.say.open(run),
        "data-key": `trial ${trial.number}`,
        onclick: () => this.open(run),
      },
      label,
    );
  }

  private drawHeading(search: SearchDescription, name: string): HTMLElement {
    const { sort, up } = this.options.now;
    const first = search.objectives[0]!;
    const isSorted = sort === name || (sort === "" && name === first.name);
    const ascending = sort === "" ? first.direction === "minimize" : up;
    const shown = name === "trial" ? this.say.trial : name === "state" ? this.say.stateColumn : name;
    const sorter = make(
      "button",
      {
        type: "button",
        "data-key": `sort ${name}`,
        onclick: () => this.options.set({ sort: name, up: isSorted ? !ascending : true }),
      },
      shown,
      isSorted && make("span", { "aria-hidden": "true" }, ascending ? " ▲" : " ▼"),
    );
    const order = isSorted ? (ascending ? "ascending" : "descending") : "none";
    return make("th", { scope: "col", "aria-sort": order }, sorter);
  }

  // Words and numbers

  private estimate(found: SearchEstimate | undefined): string {
    if (!found || found.mean === null || found.mean === undefined) return this.say.noValue;
    const { mean, high } = found;
    const shown = Math.abs(mean) >= 1e5 ? compact(mean, this.stage.language) : digits(mean);
    if (high === null || high === undefined) return shown;
    return high === mean ? shown : this.say.interval(shown, digits(high - mean, 2));
  }

  private show(value: Value): string {
    if (value === null || value === undefined) return this.say.noValue;
    if (typeof value !== "number") return String(value);
    return Number.isInteger(value) ? String(value) : digits(value, 3);
  }

  private open(run: string): void {
    this.stage.selection.set({ recording: "", beside: "", run, step: null, view: "curves" });
  }
}

function axisX(at: number, axes: number, width: number): number {
  return 20 + (at / Math.max(1, axes - 1)) * (width - 40);
}

function axisY(share: number): number {
  return AXES - 14 - share * (AXES - 14 - 26);
}

function shareAt(y: number): number {
  return Math.min(1, Math.max(0, (AXES - 14 - y) / (AXES - 14 - 26)));
}
