/**
 * One matrix: colours for values, numbers where there is room, tokens beside the rows, a frame round what is lit.
 *
 * In:   a Grid and the size of its cells.
 * Out:  a figure on the screen that says which cell is pointed at, and the same as SVG.
 */

import { css, diverging, sequential } from "../marks/colours";
import { exact } from "../marks/digits";
import { make } from "../marks/make";
import { escapeText, figure, inks, label } from "../marks/paper";
import type { Theme } from "../view";
import { brief, type Grid, inkOn, paint, place, shapeText } from "./values";

export interface Lit {
  readonly row?: number;
  readonly column?: number;
}

export interface Look {
  readonly symbol: string; // W_Q: what follows the underscore is set lower
  readonly about: string;
  readonly shape?: readonly number[];
  readonly role: "input" | "parameter" | "result";
  readonly cellWidth: number;
  readonly cellHeight: number;
  readonly theme: Theme;
  readonly still: boolean;
  readonly bands?: readonly { from: number; to: number; colour: string; text: string }[];
}

const NUMBER_WIDTH = 38; // pixels a cell needs for a number
const NUMBER_HEIGHT = 16;
const LABEL_HEIGHT = 11;
export const LABELS = 84; // pixels beside the rows
const TOP = 64; // pixels for upright column names
const RECTS = 2500; // cells that an SVG holds one by one

export class Matrix {
  readonly element: HTMLElement;
  private readonly board: HTMLElement;
  private readonly canvas = make("canvas", { "aria-hidden": "true" });
  private readonly rowMark = make("div", { class: "walk-mark", hidden: true });
  private readonly columnMark = make("div", { class: "walk-mark", hidden: true });
  private readonly cellMark = make("div", { class: "walk-mark walk-cell", hidden: true });
  private frame = 0;
  private lit: Lit = {};

  constructor(
    readonly grid: Grid,
    readonly look: Look,
    private readonly pointed: (row: number, column: number) => void,
    private readonly picked: ((row: number, column: number) => void) | null = null,
  ) {
    this.board = make("div", { class: "walk-board" });
    this.board.style.setProperty("width", `${this.width}px`);
    this.board.style.setProperty("height", `${this.height}px`);
    this.board.append(this.canvas, this.rowMark, this.columnMark, this.cellMark);
    this.board.addEventListener("pointermove", (event) => this.point(event, this.pointed));
    this.board.addEventListener("click", (event) => this.point(event, this.picked ?? this.pointed));
    const body = make("div", { class: "walk-body" }, this.rowNames(), this.board);
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
      this.bandNames(),
      body,
    );
    this.draw(1);
  }

  get width(): number {
    return Math.max(1, Math.round(this.grid.columns * this.look.cellWidth));
  }

  get height(): number {
    return Math.max(1, Math.round(this.grid.rows * this.look.cellHeight));
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
    frameAt(this.rowMark, !both && lit.row !== undefined, 0, (lit.row ?? 0) * h, this.width, h);
    frameAt(this.columnMark, !both && lit.column !== undefined, (lit.column ?? 0) * w, 0, w, this.height);
    frameAt(this.cellMark, both, (lit.column ?? 0) * w, (lit.row ?? 0) * h, w, h);
    for (const name of this.element.querySelectorAll<HTMLElement>("[data-row]"))
      name.toggleAttribute("data-lit", Number(name.dataset.row) === lit.row);
    for (const name of this.element.querySelectorAll<HTMLElement>("[data-column]"))
      name.toggleAttribute("data-lit", Number(name.dataset.column) === lit.column);
  }

  value(row: number, column: number): number | undefined {
    return this.grid.values[row * this.grid.columns + column];
  }

  private point(event: MouseEvent, tell: (row: number, column: number) => void): void {
    const box = this.board.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top) / this.look.cellHeight);
    const column = Math.floor((event.clientX - box.left) / this.look.cellWidth);
    if (row < 0 || column < 0 || row >= this.grid.rows || column >= this.grid.columns) return;
    const value = this.value(row, column);
    const names = [this.grid.row?.(row) ?? row, this.grid.column?.(column) ?? column].join(", ");
    this.board.title = `${this.look.symbol.replace("_", "")} [${names}] = ${value === undefined ? "" : exact(value)}`;
    tell(row, column);
  }

  private draw(share: number): void {
    const { grid, look, canvas, width, height } = this;
    const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext?.("2d");
    if (!context || grid.rows === 0 || grid.columns === 0) return;
    const shown = Math.ceil(grid.rows * share);
    if (shown === 0) return;
    const small = colours(grid, look.theme);
    if (small === null) return;
    // Many cells to a pixel are averaged; a cell of many pixels keeps its edges.
    const fine = shrink(small, Math.min(grid.columns, canvas.width), Math.min(grid.rows, canvas.height));
    const part = Math.ceil((fine.height * shown) / grid.rows);
    context.imageSmoothingEnabled = false;
    context.drawImage(fine, 0, 0, fine.width, part, 0, 0, canvas.width, (canvas.height * part) / fine.height);
    if (!this.hasNumbers) return;
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

  private get hasNumbers(): boolean {
    return this.look.cellWidth >= NUMBER_WIDTH && this.look.cellHeight >= NUMBER_HEIGHT;
  }

  private rowNames(): HTMLElement | null {
    const { row, rows } = this.grid;
    const { cellHeight } = this.look;
    if (row === null) return null;
    const list = make("div", { class: "walk-rows", "aria-hidden": "true" });
    list.style.setProperty("width", `${LABELS}px`);
    if (cellHeight >= LABEL_HEIGHT) {
      for (let at = 0; at < rows; at++) {
        const name = make("bdi", { "data-row": at, title: row(at) }, row(at));
        name.style.setProperty("height", `${cellHeight}px`);
        name.style.setProperty("line-height", `${cellHeight}px`);
        list.append(name);
      }
    }
    return list;
  }

  private get upright(): boolean {
    return this.look.cellWidth >= LABEL_HEIGHT && this.look.cellWidth < 44;
  }

  private columnNames(): HTMLElement | null {
    const { column, columns, row } = this.grid;
    const { cellWidth } = this.look;
    if (column === null || cellWidth < LABEL_HEIGHT) return null;
    const list = make("div", { class: "walk-columns", "aria-hidden": "true", "data-upright": this.upright });
    list.style.setProperty("margin-inline-start", row === null ? "0" : `${LABELS}px`);
    for (let at = 0; at < columns; at++) {
      const name = make("bdi", { "data-column": at, title: column(at) }, column(at));
      name.style.setProperty("width", `${cellWidth}px`);
      list.append(name);
    }
    return list;
  }

  private bandNames(): HTMLElement | null {
    const { bands, cellWidth } = this.look;
    if (bands === undefined) return null;
    const list = make("div", { class: "walk-bands", "aria-hidden": "true" });
    list.style.setProperty("margin-inline-start", this.grid.row === null ? "0" : `${LABELS}px`);
    for (const { from, to, colour, text } of bands) {
      const band = make("span", { title: text });
      band.style.setProperty("width", `${(to - from) * cellWidth}px`);
      band.style.setProperty("background", colour);
      list.append(band);
    }
    return list;
  }

  /** The matrix as SVG, with its size. */
  picture(): { readonly body: string; readonly width: number; readonly height: number } {
    const { grid, look } = this;
    const ink = inks(look.theme);
    const left = grid.row === null ? 0 : LABELS;
    const names = grid.column !== null && look.cellWidth >= LABEL_HEIGHT;
    const top = 24 + (names ? (this.upright ? TOP : 16) : 0);
    let body = label(
      `${look.symbol.replace("_", " ")}   ${shapeText(look.shape ?? [grid.rows, grid.columns])}`,
      left,
      12,
      {
        fill: ink.ink,
        size: 12,
        weight: 600,
      },
    );
    if (grid.row !== null && look.cellHeight >= LABEL_HEIGHT) {
      for (let row = 0; row < grid.rows; row++) {
        const y = top + (row + 0.5) * look.cellHeight + 4;
        body += label(cut(grid.row(row)), left - 6, y, { fill: ink.soft, size: 11, anchor: "end" });
      }
    }
    if (names) {
      for (let column = 0; column < grid.columns; column++) {
        const x = left + (column + 0.5) * look.cellWidth;
        const text = escapeText(cut(grid.column!(column)));
        body += this.upright
          ? `<text transform="translate(${figure(x + 4)} ${top - 4}) rotate(-90)" font-size="11" fill="${ink.soft}">${text}</text>`
          : `<text x="${figure(x)}" y="${top - 4}" font-size="11" fill="${ink.soft}" text-anchor="middle">${text}</text>`;
      }
    }
    for (const { from, to, colour } of look.bands ?? [])
      body += `<rect x="${figure(left + from * look.cellWidth)}" y="${top - 6}" width="${figure((to - from) * look.cellWidth)}" height="4" fill="${colour}"/>`;
    body += `<g transform="translate(${left} ${top})">${this.cells()}${this.litShapes(ink.accent)}</g>`;
    return { body, width: left + this.width, height: top + this.height };
  }

  private cells(): string {
    const { grid, look, width, height } = this;
    const ink = inks(look.theme);
    const border = `<rect width="${width}" height="${height}" fill="none" stroke="${ink.line}"/>`;
    if (grid.values.length > RECTS) {
      const url = colours(grid, look.theme)?.toDataURL?.("image/png") ?? "";
      return `<image width="${width}" height="${height}" preserveAspectRatio="none" image-rendering="pixelated" href="${url}"/>${border}`;
    }
    const table = grid.signed ? diverging(look.theme) : sequential(look.theme);
    let body = "";
    for (let at = 0; at < grid.values.length; at++) {
      const [row, column] = [Math.floor(at / grid.columns), at % grid.columns];
      const [x, y] = [column * look.cellWidth, row * look.cellHeight];
      const value = grid.values[at]!;
      const where = place(grid, value);
      const colour =
        where === null
          ? ink.line
          : css(
              table[3 * Math.round(where)]!,
              table[3 * Math.round(where) + 1]!,
              table[3 * Math.round(where) + 2]!,
            );
      body += `<rect x="${figure(x)}" y="${figure(y)}" width="${figure(look.cellWidth)}" height="${figure(look.cellHeight)}" fill="${colour}"/>`;
      if (this.hasNumbers) {
        body += label(brief(value), x + look.cellWidth / 2, y + look.cellHeight / 2 + 4, {
          fill: inkOn(grid, value, look.theme),
          size: 10,
          anchor: "middle",
        });
      }
    }
    return body + border;
  }

  private litShapes(colour: string): string {
    const { row, column } = this.lit;
    const { cellWidth: w, cellHeight: h } = this.look;
    if (row === undefined && column === undefined) return "";
    const x = column === undefined ? 0 : column * w;
    const y = row === undefined ? 0 : row * h;
    const wide = column === undefined ? this.width : w;
    const high = row === undefined ? this.height : h;
    return `<rect x="${figure(x)}" y="${figure(y)}" width="${figure(wide)}" height="${figure(high)}" fill="none" stroke="${colour}" stroke-width="2"/>`;
  }
}

/** A letter with an index: W_Q. */
export function symbol(text: string): HTMLElement {
  const [base = "", below] = text.split("_");
  return make("b", { class: "walk-symbol" }, base, below === undefined ? null : make("sub", {}, below));
}

/** Words in which W_Q has its index set lower. */
export function rich(text: string): (Node | string)[] {
  return text.split(/(\b[A-Za-z]_[A-Za-z0-9]\b)/).map((part, at) => (at % 2 === 1 ? symbol(part) : part));
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
  mark.style.setProperty("transform", `translate(${left}px, ${top}px)`);
  mark.style.setProperty("width", `${Math.max(2, width)}px`);
  mark.style.setProperty("height", `${Math.max(2, height)}px`);
}

/** One pixel a cell, on a canvas of its own. */
function colours(grid: Grid, theme: Theme): HTMLCanvasElement | null {
  const canvas = document.createElement("canvas");
  canvas.width = grid.columns;
  canvas.height = grid.rows;
  const context = canvas.getContext?.("2d");
  if (!context) return null;
  context.putImageData(new ImageData(paint(grid, theme), grid.columns, grid.rows), 0, 0);
  return canvas;
}

/** The same in fewer pixels, averaged. */
function shrink(from: HTMLCanvasElement, width: number, height: number): HTMLCanvasElement {
  if (width === from.width && height === from.height) return from;
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  if (!context) return from;
  context.imageSmoothingQuality = "high";
  context.drawImage(from, 0, 0, width, height);
  return canvas;
}

function cut(text: string): string {
  const letters = [...text];
  return letters.length > 11 ? `${letters.slice(0, 10).join("")}…` : text;
}
