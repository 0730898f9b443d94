/**
 * A picture with numbers over its patches.
 *
 * In:   an image, a grid, a number for each cell.
 * Out:  canvases one over the other: the picture, and over it the numbers as colours. Moving the pointer draws the upper one
 *       alone. Which cell is pointed at, chosen or walked to.
 */

import { fixed } from "../core/formats";
import { clearCanvas } from "./canvas";
import { diverging, sequential } from "./colours";
import { pointIn } from "./gestures";
import { ARROWS, consume } from "./keys";
import { make, setStyle, type Text } from "./make";
import "./patches.css";

export interface Grid {
  readonly rows: number;
  readonly columns: number;
}

/** "colour": colours over a grey picture; "light": the picture itself, lit as strongly as the number says. */
export type Paint = "colour" | "light";

/** Numbers over the patches. */
export interface Veil {
  readonly values: Float32Array; // by cell; NaN: no patch there
  readonly maximum: number; // of the strongest colour
  readonly signed: boolean;
  readonly paint: Paint;
}

const WEAKEST = 0.45; // how much of a patch a colour covers, at nothing
const STRONGEST = 0.8; // and at the maximum
const DARKEST = 0.85; // of the picture in "light", at nothing
const NUMBERED = 40; // CSS pixels of a cell that may have room for its number
const SMALL = 64; // pixels of a picture whose pixels stay squares
const LETTERS = "600 11px system-ui, sans-serif";
const LINED = 10; // and of one that has lines around it

/** Red, green, blue and opacity (0 … 255) of a number over the picture. */
export function veilColour(
  value: number,
  { maximum, signed, paint }: Omit<Veil, "values">,
): readonly [number, number, number, number] {
  if (Number.isNaN(value)) return [0, 0, 0, 0];
  const share = maximum > 0 ? Math.max(-1, Math.min(1, value / maximum)) : 0;
  const size = Math.abs(share);
  if (paint === "light" && !signed) return [0, 0, 0, Math.round(255 * DARKEST * (1 - size))];
  const table = signed ? diverging("dark") : sequential("dark"); // in both themes: what lies below is the picture
  const at = 3 * (signed ? Math.round(128 + 127 * share) : Math.round(255 * size));
  const cover = Math.round(255 * (WEAKEST + (STRONGEST - WEAKEST) * size));
  return [table[at]!, table[at + 1]!, table[at + 2]!, cover];
}

/** The picture alone; in grey where colours come over it. */
export function paintPicture(
  context: CanvasRenderingContext2D,
  image: CanvasImageSource,
  width: number,
  height: number,
  grey: boolean,
): void {
  context.imageSmoothingEnabled = !(image instanceof ImageBitmap) || image.width >= SMALL;
  context.drawImage(image, 0, 0, width, height);
  if (!grey) return;
  context.globalCompositeOperation = "saturation";
  context.fillStyle = "#000000";
  context.fillRect(0, 0, width, height);
  context.globalCompositeOperation = "source-over";
}

/** The numbers as colours, over what is drawn. */
export function paintVeil(
  context: CanvasRenderingContext2D,
  veil: Veil,
  { rows, columns }: Grid,
  width: number,
  height: number,
): void {
  const small = document.createElement("canvas"); // a pixel for each cell: one drawing, however many there are
  [small.width, small.height] = [columns, rows];
  const drawn = small.getContext("2d");
  if (drawn === null) return;
  const image = drawn.createImageData(columns, rows);
  veil.values.forEach((value, cell) => {
    image.data.set(veilColour(value, veil), 4 * cell);
  });
  drawn.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, width, height);
}

/** White letters with a dark edge, which are read on any picture. */
export function writeOver(context: CanvasRenderingContext2D, text: string, x: number, y: number): void {
  context.font = LETTERS;
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = "rgb(0 0 0 / 70%)";
  context.fillStyle = "#ffffff";
  context.strokeText(text, x, y);
  context.fillText(text, x, y);
}

/** Decimal places of all numbers over a picture: three digits of the largest. */
export function placesOf(maximum: number): number {
  return maximum > 0 ? Math.max(0, 2 - Math.floor(Math.log10(maximum))) : 0;
}

export interface PatchHandlers {
  readonly label: Text; // for screen readers
  point(cell: number | null): void;
  choose(cell: number): void;
  /** By keyboard; `only`: to read the number there, without choosing. */
  walk(cell: number, only: boolean): void;
  leave(): void; // Escape
}

export class PatchField {
  readonly element: HTMLElement;
  private readonly below = make("canvas", { "aria-hidden": "true" });
  private readonly above = make("canvas", { "aria-hidden": "true" });
  private grid: Grid = { rows: 1, columns: 1 };
  private image: CanvasImageSource | null = null;
  private veil: Veil | null = null;
  private size: readonly [width: number, height: number] = [0, 0];
  private chosen: number | null = null;
  private read: number | null = null; // whose number is read
  private crossed: readonly number[] = []; // cells that were cut out

  constructor(private readonly handlers: PatchHandlers) {
    this.element = make(
      "div",
      { class: "patches", tabindex: 0, role: "application", "aria-label": handlers.label },
      this.below,
      this.above,
    );
    this.element.addEventListener("pointermove", (event) => handlers.point(this.cellAt(event)));
    this.element.addEventListener("pointerleave", () => handlers.point(null));
    this.element.addEventListener("click", (event) => {
      const cell = this.cellAt(event);
      if (cell !== null) handlers.choose(cell);
    });
    this.element.addEventListener("keydown", (event) => this.press(event));
  }

  /** The picture and its size on the page; cells that were cut out of it. */
  show(
    image: CanvasImageSource | null,
    grid: Grid,
    width: number,
    height: number,
    crossed: readonly number[] = [],
  ): void {
    this.image = image;
    this.crossed = crossed;
    this.grid = grid;
    this.size = [width, height];
    setStyle(this.element, { width: `${width}px`, height: `${height}px` });
    this.paintBelow();
    this.paintAbove();
  }

  /** Numbers over it, the cell that is chosen, and the one whose number is read. */
  set(veil: Veil | null, chosen: number | null, read: number | null): void {
    const before = this.greyed;
    this.veil = veil;
    this.chosen = chosen;
    this.read = read;
    if (before !== this.greyed) this.paintBelow();
    this.paintAbove();
  }

  private get greyed(): boolean {
    return this.veil !== null && (this.veil.paint === "colour" || this.veil.signed);
  }

  private paintBelow(): void {
    const context = clearCanvas(this.below, ...this.size, true);
    if (context !== null && this.image !== null) paintPicture(context, this.image, ...this.size, this.greyed);
  }

  private paintAbove(): void {
    const context = clearCanvas(this.above, ...this.size, true);
    if (context === null) return;
    const [wide, high] = this.cell;
    if (this.veil !== null) paintVeil(context, this.veil, this.grid, ...this.size);
    if (Math.min(wide, high) >= LINED) this.paintLines(context);
    if (this.veil !== null && Math.min(wide, 2 * high) >= NUMBERED) this.paintNumbers(context, this.veil);
    for (const cell of this.crossed) this.cross(context, cell);
    if (this.read !== null) this.ring(context, this.read, true);
    if (this.chosen !== null) this.ring(context, this.chosen, false);
  }

  /** Width and height of a cell, in pixels of the page. */
  private get cell(): readonly [number, number] {
    return [this.size[0] / this.grid.columns, this.size[1] / this.grid.rows];
  }

  private paintLines(context: CanvasRenderingContext2D): void {
    const [width, height] = this.size;
    const [wide, high] = this.cell;
    context.strokeStyle = "rgb(128 128 128 / 35%)";
    context.lineWidth = 1;
    context.beginPath();
    for (let column = 1; column < this.grid.columns; column++) {
      context.moveTo(Math.round(column * wide) + 0.5, 0);
      context.lineTo(Math.round(column * wide) + 0.5, height);
    }
    for (let row = 1; row < this.grid.rows; row++) {
      context.moveTo(0, Math.round(row * high) + 0.5);
      context.lineTo(width, Math.round(row * high) + 0.5);
    }
    context.stroke();
  }

  private paintNumbers(context: CanvasRenderingContext2D, { values, maximum }: Veil): void {
    const places = placesOf(maximum);
    const [wide, high] = this.cell;
    context.font = LETTERS;
    context.textAlign = "center";
    context.textBaseline = "middle";
    values.forEach((value, cell) => {
      const text = fixed(value, places);
      if (Number.isNaN(value) || Number(text) === 0) return; // nothing, beside the largest
      const [row, column] = this.place(cell);
      if (context.measureText(text).width > wide - 6) return;
      writeOver(context, text, (column + 0.5) * wide, (row + 0.5) * high);
    });
  }

  /** A cell that is not there for the others. */
  private cross(context: CanvasRenderingContext2D, cell: number): void {
    const [wide, high] = this.cell;
    const [row, column] = this.place(cell);
    const [left, top] = [column * wide, row * high];
    context.fillStyle = "rgb(0 0 0 / 60%)";
    context.fillRect(left, top, wide, high);
    context.strokeStyle = "#ffffff";
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(left, top);
    context.lineTo(left + wide, top + high);
    context.moveTo(left + wide, top);
    context.lineTo(left, top + high);
    context.stroke();
  }

  /** A frame around a cell that is seen on any picture. */
  private ring(context: CanvasRenderingContext2D, cell: number, dashed: boolean): void {
    const [wide, high] = this.cell;
    const [row, column] = this.place(cell);
    for (const [ink, width] of [
      ["#000000", 4],
      ["#ffffff", 2],
    ] as const) {
      context.strokeStyle = ink;
      context.lineWidth = width;
      context.setLineDash(dashed && width === 2 ? [4, 3] : []);
      context.strokeRect(column * wide, row * high, wide, high);
    }
    context.setLineDash([]);
  }

  private place(cell: number): readonly [row: number, column: number] {
    return [Math.floor(cell / this.grid.columns), cell % this.grid.columns];
  }

  private cellAt(event: MouseEvent): number | null {
    const { x, y } = pointIn(this.element, event);
    const [wide, high] = this.cell;
    const [row, column] = [Math.floor(y / high), Math.floor(x / wide)];
    const { rows, columns } = this.grid;
    return row >= 0 && row < rows && column >= 0 && column < columns ? row * columns + column : null;
  }

  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      consume(event);
      this.handlers.leave();
      return;
    }
    const arrow = ARROWS[event.key];
    if (arrow === undefined) return;
    consume(event);
    const { rows, columns } = this.grid;
    const only = event.shiftKey;
    const from = (only ? this.read : null) ?? this.chosen ?? this.read;
    const [row, column] = from === null ? [(rows - 1) >> 1, (columns - 1) >> 1] : this.place(from);
    const [down, right] = from === null ? [0, 0] : arrow;
    const to = [
      Math.max(0, Math.min(rows - 1, row + down)),
      Math.max(0, Math.min(columns - 1, column + right)),
    ] as const;
    this.handlers.walk(to[0] * columns + to[1], only);
  }
}
