/**
 * One operation as matrices: what goes in, what is learned, what comes out, and how each number came about.
 *
 * In:   a step of the plan, the head and the cell in focus.
 * Out:  pictures that light the row and the column behind a cell, with its arithmetic below.
 */

import type { CellArithmetic, WalkStep } from "../../api/types";
import { formatText } from "../../core/messages";
import { Refusal } from "../../core/source";
import type { TableData } from "../../core/view";
import { make, write } from "../../marks/make";
import { inks, label } from "../../marks/paper";
import { Arithmetic } from "./arithmetic";
import { type Drawn, headOf, rowOf, type WalkContext, type WalkScene } from "./context";
import { arrange, type Plan } from "./layout";
import { litOf } from "./lighting";
import { Matrix } from "./matrix";
import { writeOperation } from "./operation_picture";
import { type Loaded, load, type Panel } from "./panels";
import { makeLegend, makeNotes } from "./remarks";
import { equationOf, spell, symbol } from "./symbols";
import { brightest, tabulate } from "./values";

const PAUSE = 70; // milliseconds a pointer rests before the server is asked
const MOVES: Readonly<Record<string, readonly [down: number, right: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

export class Operation implements WalkScene {
  readonly element = make("div", { class: "walk-operation", "aria-busy": "true" });
  readonly ready: Promise<void>;
  private readonly arithmetic: Arithmetic;
  private readonly equation = make("p", { class: "walk-equation" });
  private readonly stop_ = new AbortController();
  private asking: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private loaded: Loaded | null = null;
  private layout: Plan | null = null;
  private matrices = new Map<Panel, Matrix>();
  private told: Promise<void> = Promise.resolve(); // the arithmetic of the first cell
  private shown = ""; // the cell whose arithmetic is on the screen
  private text = "";

  constructor(
    private readonly context: WalkContext,
    readonly step: WalkStep,
    private readonly animated: boolean,
  ) {
    this.arithmetic = new Arithmetic(context.say);
    this.ready = this.open();
  }

  private async open(): Promise<void> {
    const { context, step } = this;
    if (step.missing !== null) {
      this.element.setAttribute("aria-busy", "false");
      const why = context.awaited
        ? [context.say.awaited]
        : [make("b", {}, context.say.missing), " ", formatText(step.missing, context.stage.language)];
      this.element.append(make("p", { class: "walk-missing" }, ...why));
      return;
    }
    try {
      const loaded = await load(context, step, this.stop_.signal);
      if (this.stop_.signal.aborted) return;
      this.loaded = loaded;
      this.element.setAttribute("aria-busy", "false");
      this.build(loaded);
      this.focus();
      await this.told;
    } catch (error) {
      if (!this.stop_.signal.aborted) this.refuse(error);
    }
  }

  /** A step that the host cannot show is no failure of the walk. */
  private refuse(error: unknown): void {
    this.element.setAttribute("aria-busy", "false");
    if (!(error instanceof Refusal)) {
      this.context.failed(error);
      return;
    }
    const sentence =
      error.code === "not_in_file" ? this.context.say.notInFile : error.text(this.context.stage.language);
    this.element.replaceChildren(make("p", { class: "walk-missing" }, sentence));
  }

  private build(loaded: Loaded): void {
    const { context, step } = this;
    for (const matrix of this.matrices.values()) matrix.stop();
    this.matrices = new Map();
    this.layout = arrange(loaded, step, context.width());
    const area = make("div", { class: "walk-area", "data-layout": this.layout.kind });
    for (const { panel, cellWidth, cellHeight, sign, place } of this.layout.items) {
      const matrix = this.makeMatrix(panel, cellWidth, cellHeight);
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
    this.equation.replaceChildren(...equation);
    this.text = equation.map((part) => spell(part).trim()).join(" ");
    const crossed = this.layout.kind === "cross";
    if (crossed) area.prepend(this.arithmetic.element);
    this.element.replaceChildren(
      this.equation,
      area,
      ...makeNotes(step, loaded, context.say),
      makeLegend(loaded, context.say),
      ...(crossed ? [] : [this.arithmetic.element]),
    );
    if (this.animated) this.matrices.get(loaded.result)?.reveal(700);
  }

  private makeMatrix(panel: Panel, cellWidth: number, cellHeight: number): Matrix {
    const { say, stage } = this.context;
    const result = panel === this.loaded?.result;
    const about = [
      say[panel.role],
      panel.whole && `⊂ ${panel.whole}`,
      panel.shape.at(-1) !== panel.grid.columns && say.likeliest(panel.grid.columns),
    ];
    const matrix = new Matrix(
      panel.grid,
      {
        symbol: panel.symbol,
        shape: panel.shape,
        about: about.filter(Boolean).join(" "),
        role: panel.role,
        cellWidth,
        cellHeight,
        theme: stage.theme,
        still: stage.reducedMotion,
        ...(panel.bands ? { bands: panel.bands } : {}),
      },
      (row, column) => result && this.point(row, column),
      (row, column) => result && this.pin(row, column),
    );
    if (result) this.makeFocusable(matrix);
    return matrix;
  }

  private makeFocusable(matrix: Matrix): void {
    const board = matrix.element.querySelector<HTMLElement>(".walk-board")!;
    board.tabIndex = 0;
    board.setAttribute("role", "application");
    board.setAttribute("aria-label", `${matrix.look.symbol.replace("_", " ")} · ${this.context.say.pointAt}`);
    board.addEventListener("keydown", (event) => {
      const move = MOVES[event.key];
      if (move === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      const [row, column] = this.cell();
      const { rows, columns } = matrix.grid;
      this.pin(
        Math.max(0, Math.min(rows - 1, row + move[0])),
        Math.max(0, Math.min(columns - 1, Math.max(0, column) + move[1])),
      );
    });
  }

  /** The pinned cell: as drawn. */
  private cell(): readonly [row: number, column: number] {
    const { loaded, context } = this;
    if (loaded === null) return [0, 0];
    const { rows, columns } = loaded.result.grid;
    const wish = context.stage.selection.get().options["walk.cell"]?.split(",")[1];
    const column = wish !== undefined && /^\d{1,7}$/.test(wish) ? loaded.drawn(Number(wish)) : -1;
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
    const { selection } = this.context.stage;
    const real = this.loaded?.column(column) ?? column;
    const options = { ...selection.get().options, "walk.cell": `${row},${real}` };
    const query = this.step.axes.some((axis) => axis === "source" || axis === "target") ? { query: row } : {};
    selection.set({ ...query, options });
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
    this.light(row, column, null);
    const real = loaded.column(column);
    const key = `${row},${real}`;
    if (key === this.shown) return;
    this.shown = key;
    clearTimeout(this.timer);
    this.asking?.abort();
    if (!step.arithmetic) {
      this.arithmetic.tell(this.name(row, column), this.value(row, column), this.silence());
      return;
    }
    if (pause === 0) this.told = this.ask(row, column, real, key);
    else this.timer = setTimeout(() => void this.ask(row, column, real, key), pause);
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

  private async ask(row: number, column: number, real: number, key: string): Promise<void> {
    const asking = new AbortController();
    this.asking = asking;
    const { context, step } = this;
    const headed = step.shape.output?.length === 3;
    try {
      const where = { row, column: real, ...(headed ? { head: headOf(context.stage) } : {}) };
      const cell = await context.source.cell(step.id, where, asking.signal);
      if (asking.signal.aborted || this.stop_.signal.aborted || this.shown !== key) return;
      this.arithmetic.show(cell, this.name(row, column), this.value(row, column), (name) =>
        this.letter(name),
      );
      this.light(row, column, cell);
    } catch (error) {
      if (asking.signal.aborted || this.stop_.signal.aborted) return;
      const known = error instanceof Refusal && error.code !== "not_in_file";
      const why = known ? error.text(context.stage.language) : context.say.noArithmetic;
      this.arithmetic.tell(this.name(row, column), this.value(row, column), why);
    }
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
    if (this.loaded !== null) {
      this.build(this.loaded);
      this.shown = "";
      this.focus();
    }
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
    this.stop_.abort();
    this.asking?.abort();
    clearTimeout(this.timer);
    for (const matrix of this.matrices.values()) matrix.stop();
    write(this.equation, "");
  }
}
