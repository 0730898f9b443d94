/**
 * One operation as matrices: what goes in, what is learned, what comes out, and how each number came about.
 *
 * In:   a step of the plan, the head and the cell in focus.
 * Out:  pictures that light the row and the column behind a cell, with its arithmetic below.
 */

import type { CellArithmetic, WalkStep } from "../../api/types";
import { formatText } from "../../core/messages";
import { Refusal } from "../../core/source";
import { Asker } from "../../core/tasks";
import type { TableData } from "../../core/view";
import { headIn } from "../../data/walk_arrays";
import { ARROWS, consume } from "../../marks/keys";
import { make } from "../../marks/make";
import { inks, label } from "../../marks/paper";
import { Arithmetic } from "./arithmetic";
import { type Drawn, headOf, rowOf, type WalkContext, type WalkScene } from "./context";
import { FUNCTIONS, makeCurves } from "./curves";
import { arrange, type Plan } from "./layout";
import { litOf } from "./lighting";
import { Matrix } from "./matrix";
import { writeOperation } from "./operation_picture";
import { type Loaded, load, type Panel } from "./panels";
import { makeLegend, makeNotes, paintRamp } from "./remarks";
import { equationOf, spell, symbol } from "./symbols";
import { brightest, type Grid, tabulate } from "./values";

const PAUSE = 70; // milliseconds a pointer rests before the server is asked

export class Operation implements WalkScene {
  readonly element = make("div", { class: "walk-operation", "aria-busy": "true" });
  private readonly arithmetic: Arithmetic;
  private readonly loading: Asker;
  private readonly asking: Asker; // how a number came about
  private timer: ReturnType<typeof setTimeout> | undefined;
  private loaded: Loaded | null = null;
  private layout: Plan | null = null;
  private matrices = new Map<Panel, Matrix>();
  private shown = ""; // the cell whose arithmetic is on the screen
  private found: CellArithmetic | null = null; // of that cell
  private text = "";

  constructor(
    private readonly context: WalkContext,
    readonly step: WalkStep,
    private readonly animated: boolean,
  ) {
    this.arithmetic = new Arithmetic(context.say);
    this.loading = new Asker(context.stage, (error) => this.refuse(error));
    this.asking = new Asker(context.stage, context.failed);
    this.open();
  }

  get ready(): Promise<void> {
    return this.loading.coming;
  }

  private open(): void {
    const { context, step } = this;
    const { missing } = step;
    if (missing !== null) {
      const { say, stage, awaited } = context;
      const why = awaited
        ? [() => say.awaited]
        : [make("b", {}, () => say.missing), " ", () => formatText(missing, stage.language)];
      this.fill(make("p", { class: "walk-missing" }, ...why));
      return;
    }
    this.loading.ask(
      null,
      (_, signal) => load(context, step, signal),
      (loaded) => {
        this.loaded = loaded;
        this.build(loaded);
        this.focus();
        return this.asking.coming;
      },
    );
  }

  private fill(...children: readonly HTMLElement[]): void {
    this.element.setAttribute("aria-busy", "false");
    this.element.replaceChildren(...children);
  }

  /** A step that the host cannot show is no failure of the walk. */
  private refuse(error: unknown): void {
    const { say, stage, failed } = this.context;
    if (!(error instanceof Refusal)) {
      this.fill();
      failed(error);
      return;
    }
    const why = () => (error.code === "not_in_file" ? say.notInFile : error.text(stage.language));
    this.fill(make("p", { class: "walk-missing" }, why));
  }

  private build(loaded: Loaded): void {
    const { context, step } = this;
    for (const matrix of this.matrices.values()) matrix.stop();
    this.matrices = new Map();
    this.layout = arrange(loaded, step, [context.width(), context.height()], context.options.now.zoom);
    const area = make("div", { class: "walk-area", "data-layout": this.layout.kind });
    for (const { panel, cellWidth, cellHeight, sign, place, bare = false } of this.layout.items) {
      const matrix = this.makeMatrix(panel, cellWidth, cellHeight, bare);
      this.matrices.set(panel, matrix);
      area.append(
        make(
          "div",
          { class: "walk-place", "data-place": place, "data-bare": panel.grid.row === null },
          sign ? make("span", { class: "walk-sign", "aria-hidden": "true" }, sign) : null,
          matrix.element,
        ),
      );
    }
    area.addEventListener("pointerleave", () => this.focus());
    const equation = equationOf(step, loaded);
    this.text = equation.map((part) => spell(part).trim()).join(" ");
    const crossed = this.layout.kind === "cross";
    if (crossed) area.prepend(this.arithmetic.element);
    this.fill(
      make("p", { class: "walk-equation" }, ...equation),
      area,
      ...makeNotes(context, step, loaded),
      makeLegend(loaded, context.say, context.stage.theme),
      ...this.curves(loaded),
      ...(crossed ? [] : [this.arithmetic.element]),
    );
    if (this.animated) this.matrices.get(loaded.result)?.reveal(700);
  }

  /** Of an activation: its curve among others, with the numbers that it was given. */
  private curves({ panels }: Loaded): HTMLElement[] {
    const used = this.step.words.function ?? "";
    if (this.step.operation !== "activate" || FUNCTIONS[used] === undefined) return [];
    return [makeCurves(used, panels[0]!.grid.values, this.context.say)];
  }

  private makeMatrix(panel: Panel, cellWidth: number, cellHeight: number, bare: boolean): Matrix {
    const { say, stage } = this.context;
    const result = panel === this.loaded?.result;
    const { grid, role } = panel;
    const about = () => [
      say[role],
      panel.whole && `⊂ ${panel.whole}`,
      panel.shape.at(-1) !== grid.columns && say.likeliest(grid.columns),
    ];
    const board = {
      tabindex: 0,
      role: "application",
      "aria-label": () => `${panel.symbol.replace("_", " ")} · ${say.pointAt}`,
      onkeydown: (event: KeyboardEvent) => this.move(event, grid),
    };
    return new Matrix(
      grid,
      {
        symbol: panel.symbol,
        shape: panel.shape,
        about: () => about().filter(Boolean).join(" "),
        role,
        cellWidth,
        cellHeight,
        bare,
        get theme() {
          return stage.theme;
        },
        still: stage.reducedMotion,
        ...(result ? { board } : {}),
        ...(panel.bands ? { bands: panel.bands } : {}),
      },
      (row, column) => result && this.point(row, column),
      (row, column) => result && this.pin(row, column),
    );
  }

  private move(event: KeyboardEvent, { rows, columns }: Grid): void {
    const move = ARROWS[event.key];
    if (move === undefined) return;
    consume(event);
    const [row, column] = this.cell();
    this.pin(
      Math.max(0, Math.min(rows - 1, row + move[0])),
      Math.max(0, Math.min(columns - 1, Math.max(0, column) + move[1])),
    );
  }

  /** The pinned cell: as drawn. */
  private cell(): readonly [row: number, column: number] {
    const { loaded, context } = this;
    if (loaded === null) return [0, 0];
    const { rows, columns } = loaded.result.grid;
    const wish = context.options.now.cell;
    const column = wish === null ? -1 : loaded.drawn(wish[1]);
    const row = rowOf(context, rows, this.step.axes.at(-1) === "vocabulary");
    return [row, column >= 0 && column < columns ? column : this.bright(row)];
  }

  /** Where nothing was chosen: the largest number of the row. */
  private bright(row: number): number {
    const { values, columns } = this.loaded!.result.grid;
    const own = this.step.operation === "join" ? this.loaded!.panels[0]!.grid.columns : columns;
    const first = own === columns ? 0 : headOf(this.context.stage) * own; // in the columns of the head
    return first + brightest(values.subarray(row * columns + first, row * columns + first + own));
  }

  private pin(row: number, column: number): void {
    const real = this.loaded?.column(column) ?? column;
    const query = this.step.axes.some((axis) => axis === "source" || axis === "target") ? { query: row } : {};
    this.context.options.set({ cell: [row, real] }, query);
    this.point(row, column);
  }

  follow(): void {
    this.focus();
  }

  private focus(): void {
    if (this.loaded === null || this.loaded.result.grid.values.length === 0) return;
    const [row, column] = this.cell();
    this.point(row, column, 0);
  }

  /** Light a cell, and ask how it came about. */
  private point(row: number, column: number, pause = PAUSE): void {
    const { loaded, step } = this;
    if (loaded === null) return;
    const real = loaded.column(column);
    const key = `${row},${real}`;
    if (key !== this.shown) this.found = null;
    this.light(row, column, this.found);
    if (key === this.shown) return;
    this.shown = key;
    clearTimeout(this.timer);
    this.asking.stop();
    if (!step.arithmetic) this.tell(row, column, () => this.silence());
    else if (pause === 0) this.ask(row, column, real);
    else this.timer = setTimeout(() => this.ask(row, column, real), pause);
  }

  private value(row: number, column: number): number {
    const { values, columns } = this.loaded!.result.grid;
    return values[row * columns + column] ?? Number.NaN;
  }

  /** Why nobody can say how a number of this step came about. */
  private silence(): string {
    const { say, awaited } = this.context;
    if (awaited) return say.awaited;
    if (this.step.operation === "states") return say.onlyResult;
    return this.step.shape.inputs.includes(null) ? say.inputMissing : say.weightMissing;
  }

  private ask(row: number, column: number, real: number): void {
    const { step } = this;
    const { say, source, stage, plan } = this.context;
    const headed = step.shape.output?.length === 3;
    const where = { row, column: real, ...(headed ? { head: headIn(plan, step, headOf(stage)) } : {}) };
    this.asking.ask(
      null,
      (_, signal) => source.cell(step.id, where, signal),
      (cell) => {
        this.found = cell;
        this.arithmetic.show(cell, this.name(row, column), this.value(row, column), (name) =>
          this.letter(name),
        );
        this.light(row, column, cell);
      },
      (error) => {
        const known = error instanceof Refusal && error.code !== "not_in_file";
        this.tell(row, column, () => (known ? error.text(stage.language) : say.noArithmetic));
      },
    );
  }

  /** Only a number, and why nobody can say how it came about. */
  private tell(row: number, column: number, why: () => string): void {
    this.arithmetic.tell(this.name(row, column), this.value(row, column), why);
  }

  /** What the page calls an array; terms that are no arrays keep their names. */
  private letter(name: string): string {
    const panel = this.loaded?.panels.find((each) => each.name === name);
    return panel?.symbol.replace("_", "") ?? name;
  }

  private name(row: number, column: number): HTMLElement {
    const { result } = this.loaded!;
    const names = [result.grid.row?.(row), result.grid.column?.(column) ?? String(column)].filter(
      (name) => name !== undefined,
    );
    return make("span", {}, symbol(result.symbol), " ", make("bdi", {}, `[${names.join(", ")}]`));
  }

  /** The cell, and what was read for it: by the server's word, or by the rule of the operation until it comes. */
  private light(row: number, column: number, cell: CellArithmetic | null): void {
    const { loaded, step } = this;
    if (loaded === null) return;
    const head = headOf(this.context.stage);
    for (const [panel, matrix] of this.matrices)
      matrix.light(litOf(panel, loaded, step, [row, column], cell, head));
  }

  /** Another width. */
  resize(): void {
    if (this.loaded === null) return;
    this.build(this.loaded);
    this.focus();
  }

  restyle(): void {
    for (const matrix of this.matrices.values()) matrix.restyle();
    const ramp = this.element.querySelector<HTMLElement>(".walk-ramp");
    if (ramp && this.loaded) paintRamp(ramp, this.loaded.result.grid, this.context.stage.theme);
    this.arithmetic.restyle();
  }

  picture(): Drawn {
    const { theme, language } = this.context.stage;
    if (this.layout === null) {
      const missing = this.step.missing ? formatText(this.step.missing, language) : "";
      return { body: label(missing, 0, 12, { fill: inks(theme).ink }), width: 640, height: 24 };
    }
    const { kind, items } = this.layout;
    const drawn = items.map((item) => ({ ...item, ...this.matrices.get(item.panel)!.picture() }));
    return writeOperation(kind, drawn, this.text, this.arithmetic.lines(), theme);
  }

  table(): TableData {
    const { loaded, context } = this;
    const caption = context.say.tableCaption(this.step.id);
    if (loaded === null) return { caption, columns: [], rows: [] };
    const { columns, rows } = tabulate(loaded.result.grid);
    return { caption: `${caption} · ${this.text}`, columns: [context.say.row, ...columns], rows };
  }

  stop(): void {
    this.loading.stop();
    this.asking.stop();
    clearTimeout(this.timer);
    for (const matrix of this.matrices.values()) matrix.stop();
  }
}
