/**
 * One matrix: colours for values, numbers where there is room, tokens beside the rows, a frame round what is lit.
 *
 * In:   a Grid and the size of its cells.
 * Out:  a figure on the screen that says which cell is pointed at, and the same as SVG.
 */

import { exact } from "../../core/formats";
import { pointIn } from "../../marks/gestures";
import { make, setStyle, write } from "../../marks/make";
import { isWide } from "../../marks/text";
import type { Drawn } from "./context";
import { LABELS, type Lit, type Look, type Size, sizeOf, turns } from "./look";
import { writeMatrix } from "./matrix_picture";
import { pixelsOf, shrink } from "./pixels";
import { symbol } from "./symbols";
import { brief, type Grid, inkOn, shapeText } from "./values";

export class Matrix {
  readonly element: HTMLElement;
  private readonly board: HTMLElement;
  private readonly canvas = make("canvas", { "aria-hidden": "true" });
  private readonly rowMark = make("div", { class: "walk-mark", hidden: true });
  private readonly columnMark = make("div", { class: "walk-mark", hidden: true });
  private readonly cellMark = make("div", { class: "walk-mark walk-cell", hidden: true });
  private readonly pinned = make("bdi", { class: "walk-pinned", "data-lit": true, hidden: true }); // a row in between
  private readonly bands: readonly HTMLElement[];
  private readonly size: Size;
  private frame = 0;
  private lit: Lit = {};

  constructor(
    readonly grid: Grid,
    readonly look: Look,
    pointed: (row: number, column: number) => void,
    picked: ((row: number, column: number) => void) | null = null,
  ) {
    this.size = sizeOf(grid, look);
    this.board = make(
      "div",
      {
        class: "walk-board",
        style: { width: `${this.size.width}px`, height: `${this.size.height}px` },
        onpointermove: (event: PointerEvent) => this.point(event, pointed),
        onclick: (event: MouseEvent) => this.point(event, picked ?? pointed),
        ...look.board,
      },
      this.canvas,
      this.rowMark,
      this.columnMark,
      this.cellMark,
    );
    this.bands = (look.bands ?? []).map(({ from, to, text }) =>
      make("span", { title: text, style: { width: `${(to - from) * look.cellWidth}px` } }),
    );
    this.element = make(
      "figure",
      { class: "walk-matrix", "data-role": look.role, "data-symbol": look.symbol },
      make(
        "figcaption",
        {},
        symbol(look.symbol),
        make("span", { class: "walk-shape" }, shapeText(look.shape ?? [grid.rows, grid.columns])),
        make("span", { class: "walk-about" }, look.about),
      ),
      this.columnNames(),
      this.bands.length === 0 ? null : this.above("walk-bands", this.bands),
      make("div", { class: "walk-body" }, this.rowNames(), this.board),
    );
    this.restyle();
  }

  /** Draw in the colours of the theme. */
  restyle(): void {
    this.stop();
    this.draw(1);
    for (const [at, band] of this.bands.entries())
      setStyle(band, { background: this.look.bands![at]!.colour() });
  }

  /** Show it row by row. */
  reveal(milliseconds: number): void {
    if (this.look.still) return;
    const start = performance.now();
    const tick = (now: number) => {
      const share = Math.min(1, (now - start) / milliseconds);
      this.draw(share);
      if (share < 1) this.frame = requestAnimationFrame(tick);
    };
    cancelAnimationFrame(this.frame);
    this.draw(0);
    this.frame = requestAnimationFrame(tick);
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
  }

  light(lit: Lit): void {
    this.lit = lit;
    const { cellWidth: w, cellHeight: h } = this.look;
    const both = lit.row !== undefined && lit.column !== undefined;
    frameAt(this.rowMark, !both && lit.row !== undefined, 0, (lit.row ?? 0) * h, this.size.width, h);
    frameAt(
      this.columnMark,
      !both && lit.column !== undefined,
      (lit.column ?? 0) * w,
      0,
      w,
      this.size.height,
    );
    frameAt(this.cellMark, both, (lit.column ?? 0) * w, (lit.row ?? 0) * h, w, h);
    this.pin(lit.row);
    for (const name of this.element.querySelectorAll<HTMLElement>("[data-row]")) {
      const away = Number(name.dataset.row) - (lit.row ?? Number.NaN);
      name.toggleAttribute("data-lit", away === 0);
      name.toggleAttribute("data-under", this.size.rows > 1 && Math.abs(away) * h < 12); // the pinned name is there
    }
    for (const name of this.element.querySelectorAll<HTMLElement>("[data-column]"))
      name.toggleAttribute("data-lit", Number(name.dataset.column) === lit.column);
  }

  /** The name of a row that has no room for one, over those of its neighbours. */
  private pin(row: number | undefined): void {
    const { grid, look, size, pinned } = this;
    pinned.hidden = row === undefined || size.rows < 2;
    if (row === undefined || pinned.hidden) return;
    write(pinned, grid.row!(row));
    const top = Math.min(size.height - 12, row * look.cellHeight);
    pinned.style.setProperty("inset-block-start", `${Math.max(0, top)}px`);
  }

  value(row: number, column: number): number | undefined {
    return this.grid.values[row * this.grid.columns + column];
  }

  private point(event: MouseEvent, tell: (row: number, column: number) => void): void {
    const { x, y } = pointIn(this.board, event);
    const row = Math.floor(y / this.look.cellHeight);
    const column = Math.floor(x / this.look.cellWidth);
    if (row < 0 || column < 0 || row >= this.grid.rows || column >= this.grid.columns) return;
    const value = this.value(row, column);
    const names = [this.grid.row?.(row) ?? row, this.grid.column?.(column) ?? column].join(", ");
    this.board.title = `${this.look.symbol.replace("_", "")} [${names}] = ${value === undefined ? "" : exact(value)}`;
    tell(row, column);
  }

  private draw(share: number): void {
    const { grid, look, canvas } = this;
    const { width, height, numbers } = this.size;
    const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext?.("2d");
    if (!context || grid.rows === 0 || grid.columns === 0) return;
    const shown = Math.ceil(grid.rows * share);
    if (shown === 0) return;
    const small = pixelsOf(grid, look.theme);
    if (small === null) return;
    // Many cells to a pixel are averaged; a cell of many pixels keeps its edges.
    const fine = shrink(small, Math.min(grid.columns, canvas.width), Math.min(grid.rows, canvas.height));
    const part = Math.ceil((fine.height * shown) / grid.rows);
    context.imageSmoothingEnabled = false;
    context.drawImage(fine, 0, 0, fine.width, part, 0, 0, canvas.width, (canvas.height * part) / fine.height);
    if (!numbers) return;
    context.scale(ratio, ratio);
    context.font = `${look.cellHeight >= 20 ? 11 : 10}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let row = 0; row < shown; row++) {
      for (let column = 0; column < grid.columns; column++) {
        const value = this.value(row, column)!;
        context.fillStyle = inkOn(grid, value, look.theme);
        context.fillText(brief(value), (column + 0.5) * look.cellWidth, (row + 0.5) * look.cellHeight);
      }
    }
  }

  private rowNames(): HTMLElement | null {
    const { row, rows } = this.grid;
    const { cellHeight } = this.look;
    if (row === null) return null;
    const list = make("div", { class: "walk-rows", "aria-hidden": "true", style: { width: `${LABELS}px` } });
    const style = {
      height: `${this.size.rows * cellHeight}px`,
      "line-height": `${Math.max(cellHeight, 11)}px`,
    };
    const every = this.size.rows;
    for (let at = 0; at < rows && (every === 1 || at + every <= rows); at += every) {
      const name = () => row(at);
      list.append(make("bdi", { "data-row": at, title: name, style }, name));
    }
    if (every > 1) list.append(this.pinned);
    return list;
  }

  private columnNames(): HTMLElement | null {
    const { column, columns } = this.grid;
    const { cellWidth } = this.look;
    if (column === null || !this.size.columns) return null;
    const style = { width: `${cellWidth}px` };
    const names = Array.from({ length: columns }, (_, at) => {
      const text = column(at);
      const turned = turns(text, cellWidth) ? (isWide(text) ? "han" : "word") : null;
      return make("bdi", { "data-column": at, "data-turned": turned, title: text, style }, text);
    });
    return this.above("walk-columns", names);
  }

  /** A line above the columns. */
  private above(kind: string, parts: readonly HTMLElement[]): HTMLElement {
    const style = { "margin-inline-start": this.grid.row === null ? "0" : `${LABELS}px` };
    return make("div", { class: kind, "aria-hidden": "true", style }, ...parts);
  }

  /** The matrix as SVG, with its size. */
  picture(): Drawn {
    return writeMatrix(this.grid, this.look, this.lit);
  }
}

function frameAt(
  mark: HTMLElement,
  on: boolean,
  left: number,
  top: number,
  width: number,
  height: number,
): void {
  mark.hidden = !on;
  if (!on) return;
  setStyle(mark, {
    transform: `translate(${left}px, ${top}px)`,
    width: `${Math.max(2, width)}px`,
    height: `${Math.max(2, height)}px`,
  });
}
