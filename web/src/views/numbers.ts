/**
 * Numbers: the interpretability panel. What every head, layer and the whole model measure.
 *
 * In:   scores of the source, measured anew when the threshold moves; statistics for the lines along the text.
 * Out:  cards for the whole model with what each number means, a table that sorts, a grid of all heads.
 */

import { asFloats, tensor } from "../bundle";
import { words as focusWords } from "../i18n/focus";
import { words } from "../i18n/numbers";
import { type ColourScale, colourScale, drawColourBar, spell } from "../marks/cells";
import { button, type Control, choice, list, slider, tick } from "../marks/controls";
import { digits, exact } from "../marks/digits";
import { captionOf, copyText, SCREEN, saveText } from "../marks/focus";
import { cellTitle, drawHeadGrid, gridSize, type HeadCell } from "../marks/headgrid";
import { draw, make, write } from "../marks/make";
import {
  ABSOLUTE,
  emptyRows,
  fillRows,
  type Level,
  type MeasureRow,
  measure,
  RELATIVE,
  type Threshold,
  tabular,
} from "../marks/measures";
import { type Inks, inks, label, sheet } from "../marks/paper";
import { drawSparkline, drawStrip, reach } from "../marks/sparkline";
import { type Column, type Sorting, SortTable, writeCsv } from "../marks/table";
import type { MapDescription, MetricDescription } from "../types";
import type { Mounted, Stage, TableData, View } from "../view";

const LEVELS: readonly Level[] = ["head", "layer", "model"];
const ALONG = ["entropy", "peak", "above", "distance"] as const;
const COMPANIONS: Readonly<Record<string, string>> = {
  overall_sparsity: "nonzero_share",
  entropy: "entropy_share",
};
const PATIENCE = 120; // milliseconds between the slider's last step and the question

export const view: View = {
  name: "numbers",
  order: 80,
  title: { en: words("en").title, zh: words("zh").title },
  about: { en: words("en").about, zh: words("zh").about },
  fits: ({ description }) =>
    description.maps.length > 0 || { en: words("en").noMaps, zh: words("zh").noMaps },
  mount: (stage) => new NumbersView(stage),
};

class NumbersView implements Mounted {
  private readonly say;
  private readonly sayFocus;
  private readonly offered: readonly MetricDescription[];
  private readonly cards = make("div", { class: "cards" });
  private readonly grids = make("div", { class: "grids", tabindex: 0, role: "application" });
  private readonly legend = draw("svg", { width: 220, height: 28, role: "img" });
  private readonly state = make("span", { class: "state", role: "status" });
  private readonly tau: ReturnType<typeof slider>;
  private readonly relative: Control<"absolute" | "multiple">;
  private readonly level: Control<Level>;
  private readonly table_: SortTable<MeasureRow>;
  private rows: readonly MeasureRow[] = [];
  private heads: readonly MeasureRow[] = []; // for the grid, whatever the level
  private whole: readonly MeasureRow[] = [];
  private measured = "";
  private coming: Promise<void> = Promise.resolve();
  private round: AbortController | null = null;
  private timer = 0;
  private readonly statistics = new Map<number, Map<string, Float32Array> | "asked">();
  private readonly ended = new AbortController();

  constructor(private readonly stage: Stage) {
    this.say = words(stage.language);
    this.sayFocus = focusWords(stage.language);
    this.offered = tabular(stage.metrics);
    const { tau } = this.threshold();
    this.tau = slider(
      {
        label: this.say.threshold,
        minimum: -4,
        maximum: 1,
        step: 0.05,
        value: Math.log10(tau),
        text: (value) => this.tauWords(round(10 ** value)),
      },
      (value) => this.later(() => stage.selection.option("numbers.tau", this.tauOption(round(10 ** value)))),
    );
    this.relative = choice(
      this.say.relative,
      [
        { value: "absolute", text: this.say.absolute },
        { value: "multiple", text: this.say.multiple },
      ],
      this.threshold().relative ? "multiple" : "absolute",
      (value) => this.turn(value === "multiple"),
    );
    const levels = LEVELS.map((value) => ({ value, text: this.say[value] }));
    this.level = choice(this.say.level, levels, this.chosenLevel(), (value) =>
      stage.selection.option("numbers.level", value === "head" ? null : value),
    );
    this.table_ = new SortTable<MeasureRow>(this.tableLook());
    this.build();
    this.update();
  }

  update(): void {
    const { tau, relative } = this.threshold();
    this.level.set(this.chosenLevel());
    this.relative.set(relative ? "multiple" : "absolute");
    this.tau.input.min = relative ? "-1" : "-4";
    this.tau.input.max = relative ? "1" : "-0.3";
    this.tau.set(Math.log10(tau));
    const asked = [...this.chosen(), this.gridMetric()].map(({ name }) => name);
    const key = JSON.stringify([this.chosenLevel(), this.step(), tau, relative, asked]);
    if (key !== this.measured) {
      this.measured = key;
      this.coming = this.measureAll();
    } else {
      this.show();
    }
  }

  resize(): void {
    this.table_.window(true);
  }

  unmount(): void {
    clearTimeout(this.timer);
    this.round?.abort();
    this.ended.abort();
    this.stage.element.replaceChildren();
  }

  async picture(): Promise<string> {
    await this.coming;
    const { theme, language } = this.stage;
    const ink = inks(theme);
    const metric = this.gridMetric();
    let body = "";
    let [x, tall] = [0, 0];
    for (const { group, size } of this.drawGrids(ink, 22)) {
      body += `<g transform="translate(${x} 0)">${spell(group)}</g>`;
      x += size[0] + 28;
      tall = Math.max(tall, size[1]);
    }
    const name = `${metric.label[language]} (${this.say.unit(metric.unit)})`;
    body += `<g transform="translate(0 ${tall + 14})">${spell(drawColourBar(this.gridScale(), 200, ink, name))}</g>`;
    let y = tall + 64;
    for (const each of this.chosen()) {
      const reading = this.whole[0]?.readings.get(each.name);
      const value =
        reading?.value === null || reading === undefined
          ? this.say.undefined
          : `${digits(reading.value)} ${this.say.unit(each.unit)}`;
      body += label(`${each.label[language]}: ${value}`, 0, y, { fill: ink.ink, size: 12, weight: 600 });
      body += label(`${each.caption[language]} ${each.lower?.[language] ?? ""}`, 0, y + 15, {
        fill: ink.soft,
        size: 11,
      });
      y += 36;
    }
    return sheet({
      width: Math.max(x, 560),
      height: y,
      body,
      title: `${this.say.title} · ${metric.label[language]}`,
      caption: captionOf(this.stage, `${this.say.wholeModel}: ${this.tauWords(this.threshold().tau)}`),
      theme,
    });
  }

  async table(): Promise<TableData> {
    await this.coming;
    return { caption: this.say.caption(this.say[this.chosenLevel()]), ...this.plain() };
  }

  private build(): void {
    const { say, stage } = this;
    const tools = make(
      "div",
      { class: "tools" },
      button(say.copy, () => void copyText(stage, this.csv())),
      button(say.save, () => saveText(`${stage.source.description.id}-numbers.csv`, this.csv(), "text/csv")),
    );
    const metrics = this.offered.map(({ name, label: { [stage.language]: text } }) => ({
      value: name,
      text,
    }));
    const grid = make(
      "section",
      { class: "overview" },
      list(say.grid, [{ label: null, options: metrics }], this.gridMetric().name, (name) =>
        stage.selection.option("numbers.grid", name),
      ).element,
      this.grids,
      this.legend,
    );
    const along = ALONG.map((value) => ({ value, text: say.alongOf(value) }));
    stage.element.replaceChildren(
      make(
        "div",
        { class: "numbers-view" },
        make("div", { class: "controls" }, this.tau.element, this.relative.element, this.state),
        this.cards,
        make(
          "div",
          { class: "controls" },
          this.level.element,
          list(say.along, [{ label: null, options: along }], this.along(), (name) =>
            stage.selection.option("numbers.along", name),
          ).element,
          tools,
        ),
        make("div", { class: "body" }, this.table_.element, grid),
        this.chooser(),
      ),
    );
    this.grids.addEventListener("click", (event) => this.clickGrid(event));
    this.grids.addEventListener("keydown", (event) => this.keyGrid(event));
  }

  /** Metrics beyond the panel's, by family. */
  private chooser(): HTMLElement {
    const { language } = this.stage;
    const extra = this.offered.filter(({ panel }) => !panel);
    const families = [...new Set(extra.map(({ family }) => family))];
    const groups = families.map((family) =>
      make(
        "fieldset",
        {},
        make("legend", {}, this.say.families(family)),
        ...extra
          .filter((metric) => metric.family === family)
          .map((metric) => {
            const control = tick(metric.label[language], this.extras().includes(metric.name), (on) =>
              this.addMetric(metric.name, on),
            );
            const note = metric.needs === "weights" ? ` ${this.say.slow}` : "";
            return make(
              "div",
              {},
              control.element,
              make("p", {}, metric.caption[language], make("small", {}, note)),
            );
          }),
      ),
    );
    return make(
      "details",
      { class: "chooser", open: this.extras().length > 0 },
      make("summary", {}, this.say.more),
      make("div", {}, ...groups),
    );
  }

  private addMetric(name: string, on: boolean): void {
    const names = this.extras().filter((each) => each !== name);
    if (on) names.push(name);
    this.stage.selection.option("numbers.metrics", names.length === 0 ? null : names.join(","));
  }

  private turn(relative: boolean): void {
    const { options } = this.stage.selection.get();
    const { "numbers.tau": _tau, "numbers.relative": _relative, ...others } = options;
    this.stage.selection.set({ options: relative ? { ...others, "numbers.relative": "1" } : others });
  }

  private later(then: () => void): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(then, PATIENCE);
  }

  /** Ask for every chosen metric at the level, for heads and for the model; what is asked already is left. */
  private async measureAll(): Promise<void> {
    this.round?.abort();
    const round = new AbortController();
    this.round = round;
    const { source } = this.stage;
    const { maps } = source.description;
    const [level, step, threshold] = [this.chosenLevel(), this.step(), this.threshold()];
    const wanted = new Map<Level, MeasureRow[]>();
    for (const each of new Set<Level>(["model", "head", level]))
      wanted.set(each, emptyRows(maps, each, step));
    write(this.state, this.say.measuring);
    this.stage.element.firstElementChild?.classList.add("stale");
    try {
      const metrics = this.chosen();
      const grid = this.gridMetric();
      const all = metrics.includes(grid) ? metrics : [...metrics, grid];
      await Promise.all(
        all.flatMap((metric) =>
          [...wanted].map(async ([each, rows]) => {
            const possible = metric.levels.includes(each);
            const answer = possible
              ? await measure(source, metric, each, threshold, round.signal)
              : this.say.notLevel(this.say[each]);
            fillRows(rows, metric.name, answer);
          }),
        ),
      );
    } catch (error) {
      if (!round.signal.aborted) this.stage.fail(error);
      return;
    }
    if (round.signal.aborted || this.ended.signal.aborted) return;
    this.heads = wanted.get("head")!;
    this.whole = wanted.get("model")!;
    this.rows = wanted.get(level)!;
    write(this.state, step === null ? "" : this.say.step(step));
    this.stage.element.firstElementChild?.classList.remove("stale");
    this.show();
  }

  private show(): void {
    this.showCards();
    this.table_.show(this.tableLook());
    this.showGrids();
  }

  private showCards(): void {
    const { language, selection } = this.stage;
    const { map, head } = selection.get();
    const here = this.heads.find((row) => row.map === map && row.head === head);
    const metrics = this.chosen();
    const cards = metrics
      .filter(({ name }) => !Object.values(COMPANIONS).includes(name))
      .map((metric) => {
        const other = metrics.find(({ name }) => name === COMPANIONS[metric.name]) ?? null;
        const both = other === null ? [metric] : [metric, other];
        const own = here === undefined ? [] : both.map(({ name }) => here.readings.get(name)?.value ?? null);
        const told = own.some((value) => value !== null);
        return make(
          "section",
          {},
          make("h3", {}, metric.label[language]),
          ...both.map((each, at) => this.bigNumber(each, at === 0)),
          told
            ? make(
                "p",
                { class: "own", title: own.map(exact).join(" · ") },
                `${this.place(here!)}: ${own.map((value) => digits(value)).join(" · ")}`,
              )
            : null,
          make("p", { class: "means" }, metric.caption[language]),
          make(
            "p",
            { class: "means" },
            [metric.lower?.[language], metric.higher?.[language]].filter(Boolean).join(" "),
          ),
        );
      });
    this.cards.replaceChildren(...cards);
  }

  private bigNumber(metric: MetricDescription, first: boolean): HTMLElement {
    const reading = this.whole[0]?.readings.get(metric.name);
    const value = reading?.value ?? null;
    const classes = ["value", first ? "" : "second", value === null ? "none" : ""].join(" ").trim();
    const why = reading?.why ?? "";
    return make(
      "p",
      { class: classes, "data-metric": metric.name, title: value === null ? why : exact(value) },
      value === null ? this.say.undefined : digits(value),
      make("span", {}, value === null ? why : this.say.unit(metric.unit)),
    );
  }

  private tableLook() {
    const { language, selection } = this.stage;
    const level = this.chosenLevel();
    const { map, head } = selection.get();
    const chosen = (row: MeasureRow) => row.map === map && (row.head === null || row.head === head);
    const here = this.rows.find(chosen);
    const columns: Column<MeasureRow>[] = [
      { name: "where", label: this.say.where, value: (row) => row.order, cell: (row) => this.place(row) },
    ];
    if (level !== "model") {
      const name = this.say.alongOf(this.along());
      columns.push({
        name: "along",
        label: `${this.say.along}: ${name}`,
        title: this.say.alongMeans(name),
        fixed: true,
        value: (row) => row.order,
        cell: (row) => this.spark(row),
      });
    }
    for (const metric of this.chosen()) {
      const read = (row: MeasureRow) => row.readings.get(metric.name)?.value ?? null;
      const values = this.rows.map(read);
      const span = reach(values);
      const beside =
        span === null || values.length < 3
          ? undefined
          : drawStrip(values, {
              width: 84,
              height: 12,
              ink: SCREEN.ink,
              markInk: SCREEN.accent,
              domain: span,
              mark: here === undefined ? null : read(here),
            });
      columns.push({
        name: metric.name,
        label: metric.label[language],
        title: `${metric.caption[language]} (${this.say.unit(metric.unit)})`,
        beside,
        value: read,
        why: (row) => row.readings.get(metric.name)?.why ?? null,
      });
    }
    return {
      caption: this.say.caption(this.say[level]),
      columns,
      rows: this.rows,
      sorting: this.sorting(),
      none: this.say.undefined,
      chosen,
      sort: ({ name, down }: Sorting) =>
        this.stage.selection.option("numbers.sort", `${down ? "-" : ""}${name}`),
      choose: (row: MeasureRow) => this.go(row),
    };
  }

  private go(row: MeasureRow): void {
    if (row.map === null) return;
    this.stage.selection.set({ map: row.map, head: row.head ?? "mean" });
    this.stage.announce(this.place(row));
  }

  /** The line of one row: filled in when its statistics are here. */
  private spark(row: MeasureRow): Node {
    const holder = make("span", { class: "spark" });
    const map = this.stage.source.description.maps.find(({ index }) => index === row.map);
    if (map === undefined) return holder;
    const held = this.statistics.get(map.index);
    if (held instanceof Map) holder.append(this.drawSpark(map, row.head, held));
    else if (held === undefined) this.fetchStatistics(map);
    return holder;
  }

  private fetchStatistics(map: MapDescription): void {
    this.statistics.set(map.index, "asked");
    this.stage.source.statistics(map.index).then(
      (frame) => {
        this.statistics.set(map.index, new Map(ALONG.map((name) => [name, asFloats(tensor(frame, name))])));
        if (!this.ended.signal.aborted) this.table_.window(true);
      },
      (error: unknown) => {
        if (!this.ended.signal.aborted) this.stage.fail(error);
      },
    );
  }

  private drawSpark(
    map: MapDescription,
    head: number | null,
    held: ReadonlyMap<string, Float32Array>,
  ): SVGSVGElement {
    const all = held.get(this.along())!; // (head, query)
    const { queries, heads } = map;
    let values: Float32Array;
    if (head === null) {
      values = new Float32Array(queries);
      for (let at = 0; at < all.length; at++) values[at % queries] = values[at % queries]! + all[at]! / heads;
    } else {
      values = all.subarray(head * queries, (head + 1) * queries);
    }
    const { query } = this.stage.selection.get();
    const tops = { entropy: Math.log(Math.max(2, map.keys)), peak: 1, above: null, distance: null } as const;
    const top = tops[this.along()] ?? Math.max(reach(all)?.[1] ?? 1, 1e-9);
    return drawSparkline(values, {
      width: 120,
      height: 24,
      ink: SCREEN.soft,
      domain: [0, top],
      mark: query === null || map.index !== this.stage.selection.get().map ? null : query - map.query_start,
      markInk: SCREEN.accent,
    });
  }

  private gridScale(): ColourScale {
    const { name } = this.gridMetric();
    const values = this.heads.map((row) => row.readings.get(name)?.value ?? null);
    return colourScale(reach(values), "sequential", false, this.stage.theme);
  }

  /** One grid for each stack and kind. */
  private drawGrids(
    ink: Inks,
    cell: number,
  ): { group: SVGGElement; size: readonly [number, number]; stack: string; kind: string }[] {
    const metric = this.gridMetric();
    const scale = this.gridScale();
    const { map, head } = this.stage.selection.get();
    const families = [...new Set(this.heads.map(({ stack, kind }) => `${stack} ${kind}`))];
    return families.map((family) => {
      const rows = this.heads.filter(({ stack, kind }) => `${stack} ${kind}` === family);
      const [stack, kind] = [rows[0]!.stack!, rows[0]!.kind!];
      const layers = [...new Set(rows.map((row) => row.layer!))];
      const heads = Math.max(...rows.map((row) => row.head! + 1));
      const cells = rows.map((row): HeadCell => {
        const reading = row.readings.get(metric.name) ?? { value: null, why: null };
        return {
          layer: row.layer!,
          head: row.head!,
          value: reading.value,
          title: cellTitle(this.place(row), reading.value, this.say.unit(metric.unit), reading.why),
          chosen: row.map === map && (row.head === head || head === "mean"),
        };
      });
      const look = {
        title: this.sayFocus.familyName(stack, kind === "cross"),
        layers,
        heads,
        cell,
        scale,
        inks: ink,
        none: ink.ground,
        names: { layer: this.say.layers, head: this.say.heads },
      };
      return { group: drawHeadGrid(cells, look), size: gridSize(look), stack, kind };
    });
  }

  private showGrids(): void {
    const { language } = this.stage;
    const metric = this.gridMetric();
    const most = Math.max(1, ...this.heads.map((row) => row.head! + 1));
    const cell = Math.max(8, Math.min(22, Math.floor(300 / most)));
    const drawn = this.drawGrids(SCREEN, cell).map(({ group, size, stack, kind }) =>
      draw(
        "svg",
        {
          width: size[0],
          height: size[1],
          viewBox: `0 0 ${size[0]} ${size[1]}`,
          "data-stack": stack,
          "data-kind": kind,
          "aria-hidden": "true",
        },
        group,
      ),
    );
    this.grids.replaceChildren(...drawn);
    this.grids.setAttribute("aria-label", this.say.gridAbout(metric.label[language]));
    const bar = drawColourBar(this.gridScale(), 200, SCREEN);
    bar.setAttribute("transform", "translate(8 2)");
    this.legend.replaceChildren(bar);
    this.legend.setAttribute(
      "aria-label",
      `${metric.label[language]}: ${this.gridScale()
        .domain.map((value) => digits(value))
        .join(" – ")}`,
    );
  }

  private clickGrid(event: MouseEvent): void {
    const cell = (event.target as Element).closest("rect[data-head]");
    const svg = cell?.closest("svg");
    if (!cell || !svg) return;
    const row = this.heads.find(
      (each) =>
        each.stack === svg.getAttribute("data-stack") &&
        each.kind === svg.getAttribute("data-kind") &&
        each.layer === Number(cell.getAttribute("data-layer")) &&
        each.head === Number(cell.getAttribute("data-head")),
    );
    if (row !== undefined) this.go(row);
  }

  private keyGrid(event: KeyboardEvent): void {
    const moves: Record<string, readonly [number, number]> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    };
    const move = moves[event.key];
    const { map, head } = this.stage.selection.get();
    const here = this.heads.find((row) => row.map === map);
    if (move === undefined || here === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const family = this.heads.filter((row) => row.stack === here.stack && row.kind === here.kind);
    const layers = [...new Set(family.map((row) => row.layer))];
    const layer = layers[Math.max(0, Math.min(layers.length - 1, layers.indexOf(here.layer) + move[0]))];
    const wish = (typeof head === "number" ? head : 0) + move[1];
    const row = family.find((each) => each.layer === layer && each.head === Math.max(0, wish)) ?? null;
    if (row === null) return;
    this.go(row);
    const reading = row.readings.get(this.gridMetric().name);
    this.stage.announce(
      cellTitle(
        this.place(row),
        reading?.value ?? null,
        this.say.unit(this.gridMetric().unit),
        reading?.why ?? null,
      ),
    );
  }

  private plain(): Pick<TableData, "columns" | "rows"> {
    const { language } = this.stage;
    const metrics = this.chosen();
    return {
      columns: [
        this.say.columnStack,
        this.say.columnKind,
        this.say.columnLayer,
        this.say.columnHead,
        ...metrics.map((metric) => `${metric.label[language]} (${metric.unit})`),
      ],
      rows: this.table_
        .rows()
        .map((row) => [
          row.stack,
          row.kind,
          row.layer,
          row.head,
          ...metrics.map((metric) => row.readings.get(metric.name)?.value ?? null),
        ]),
    };
  }

  private csv(): string {
    const { columns, rows } = this.plain();
    return writeCsv(columns, rows);
  }

  private place(row: MeasureRow): string {
    if (row.layer === null) return this.say.wholeModel;
    const own = row.head === null ? this.say.rowLayer(row.layer) : this.say.rowHead(row.layer, row.head);
    const families = new Set(this.heads.map(({ stack, kind }) => `${stack} ${kind}`));
    if (families.size < 2) return own;
    return `${this.sayFocus.familyName(row.stack ?? "", row.kind === "cross")} ${own}`;
  }

  private option(name: string): string | undefined {
    return this.stage.selection.get().options[`numbers.${name}`];
  }

  private chosenLevel(): Level {
    return LEVELS.find((level) => level === this.option("level")) ?? "head";
  }

  private threshold(): Threshold {
    const standard = this.option("relative") === "1" ? RELATIVE : ABSOLUTE;
    const tau = Number(this.option("tau") ?? standard.tau);
    return tau > 0 && Number.isFinite(tau) ? { ...standard, tau } : standard;
  }

  private tauOption(tau: number): string | null {
    const standard = this.threshold().relative ? RELATIVE : ABSOLUTE;
    return tau === standard.tau ? null : String(tau);
  }

  private tauWords(tau: number): string {
    const text = String(tau);
    return this.threshold().relative ? this.say.tauRelative(text) : this.say.tauAbsolute(text);
  }

  private extras(): string[] {
    const names = (this.option("metrics") ?? "").split(",");
    return this.offered.filter(({ name, panel }) => !panel && names.includes(name)).map(({ name }) => name);
  }

  private chosen(): readonly MetricDescription[] {
    const extras = this.extras();
    return this.offered.filter(({ name, panel }) => panel || extras.includes(name));
  }

  private gridMetric(): MetricDescription {
    const wish = this.option("grid") ?? "entropy";
    return this.offered.find(({ name }) => name === wish) ?? this.offered[0]!;
  }

  private along(): (typeof ALONG)[number] {
    return ALONG.find((name) => name === this.option("along")) ?? "entropy";
  }

  private sorting(): Sorting | null {
    const wish = this.option("sort");
    if (wish === undefined) return null;
    return wish.startsWith("-") ? { name: wish.slice(1), down: true } : { name: wish, down: false };
  }

  private step(): number | null {
    const { maps } = this.stage.source.description;
    return maps.find(({ index }) => index === this.stage.selection.get().map)?.step ?? maps[0]?.step ?? null;
  }
}

/** Two significant digits: what a slider can mean. */
function round(value: number): number {
  return Number(value.toPrecision(2));
}
