/**
 * Two columns of tokens in one scroll: queries left and keys right, or the other way; only rows in view exist.
 *
 * In:   tokens of both axes, and what to do when a token is pointed at or chosen.
 * Out:  two list boxes for mouse, touch and keyboard, with room between them for a canvas.
 */

import type { TokenSlice } from "../api/types";
import type { Crop } from "../core/heat";
import { clearCanvas } from "./canvas";
import { drawCrop } from "./crop";
import { pointIn } from "./gestures";
import { consume, moveInList } from "./keys";
import { make, setStyle, type Text, uniqueId, write } from "./make";
import "./columns.css";

export type Axis = "query" | "key";
export interface Place {
  readonly axis: Axis;
  readonly row: number;
}

export interface ColumnsOptions {
  readonly labels: Readonly<Record<Axis, Text>>; // for screen readers
  readonly left?: Axis; // the axis on the left: queries, if nothing is said
  point(place: Place | null): void;
  choose(place: Place): void;
  leave(): void; // Escape
  scroll(): void;
  resized(): void; // the element: what stands above it may take a line more or less
}

const LEAST_ROW = 22; // pixels
const MOST_ROW = 120; // where few tokens leave room
const AROUND = 4; // rows beyond the window
const LARGEST_CROP = 40; // pixels of a small picture

/** How high the rows of `count` tokens are in so much room: they fill it, or scroll. */
export function rowHeight(room: number, count: number): number {
  return Math.max(LEAST_ROW, Math.min(MOST_ROW, Math.floor(room / Math.max(1, count))));
}

interface Column {
  readonly list: HTMLElement;
  readonly shown: Map<number, HTMLElement>;
  tokens: TokenSlice | null;
  crop: ((row: number) => Crop | null) | null; // of rows that are patches
  active: number;
}

export class Columns {
  readonly element: HTMLElement;
  readonly window: HTMLElement; // stays in view: a place for canvases
  private readonly left: Axis;
  private readonly right: Axis;
  private readonly space: HTMLElement;
  private readonly columns: Readonly<Record<Axis, Column>>;
  private readonly name = uniqueId("columns");
  row = LEAST_ROW; // height of a row
  private values: { axis: Axis; text: (row: number) => string } | null = null;
  private kept: Readonly<Record<Axis, number | null>> = { query: null, key: null };

  constructor(private readonly options: ColumnsOptions) {
    this.left = options.left ?? "query";
    this.right = this.left === "query" ? "key" : "query";
    this.window = make("div", { class: "columns-window" });
    this.columns = { query: this.makeColumn("query"), key: this.makeColumn("key") };
    this.space = make(
      "div",
      { class: "columns-space" },
      this.window,
      this.columns[this.left].list,
      this.columns[this.right].list,
    );
    this.element = make("div", { class: "columns" }, this.space);
    this.element.addEventListener("scroll", () => {
      this.render();
      options.scroll();
    });
    new ResizeObserver(() => options.resized()).observe(this.element);
    this.space.addEventListener("pointermove", (event) => options.point(this.placeOf(event)));
    this.space.addEventListener("pointerleave", () => options.point(null));
    this.space.addEventListener("pointerdown", (event) => {
      const place = this.placeOf(event); // before the list gets the focus, and points at its active token
      if (place !== null) this.columns[place.axis].active = place.row;
    });
    this.space.addEventListener("click", (event) => {
      const place = this.placeOf(event);
      if (place !== null) options.choose(place);
    });
  }

  /** `crops`: a small picture of each row that is a patch. */
  setTokens(
    queries: TokenSlice,
    keys: TokenSlice,
    crops: Partial<Readonly<Record<Axis, (row: number) => Crop | null>>> = {},
  ): void {
    for (const [axis, tokens] of [
      ["query", queries],
      ["key", keys],
    ] as const) {
      const column = this.columns[axis];
      column.tokens = tokens;
      column.crop = crops[axis] ?? null;
      column.active = Math.min(column.active, Math.max(0, tokens.shown.length - 1));
      for (const element of column.shown.values()) element.remove();
      column.shown.clear();
    }
    this.fit();
    this.render();
  }

  /** The element has another size: rows may be higher or lower. */
  resize(): void {
    if (this.fit()) {
      for (const { shown } of Object.values(this.columns)) {
        for (const element of shown.values()) element.remove();
        shown.clear(); // small pictures have the height of rows
      }
    }
    this.render();
  }

  private fit(): boolean {
    const count = Math.max(...Object.values(this.columns).map(({ tokens }) => tokens?.shown.length ?? 0), 1);
    const row = rowHeight(this.element.clientHeight, count);
    const changed = row !== this.row;
    this.row = row;
    setStyle(this.space, { height: `${count * row}px`, "--row": `${row}px` });
    return changed;
  }

  /** Rows of an axis that can be seen, and y of the middle of row 0 in the window. */
  view(axis: Axis): { rows: readonly [number, number]; top: number } {
    const { scrollTop, clientHeight } = this.element;
    const count = this.columns[axis].tokens?.shown.length ?? 0;
    const first = Math.max(0, Math.floor(scrollTop / this.row));
    const last = Math.min(count, Math.ceil((scrollTop + clientHeight) / this.row));
    return { rows: [Math.min(first, count), last], top: this.row / 2 - scrollTop };
  }

  /** Where the columns end and the lane between them begins, from the window's left. */
  lane(): { left: number; right: number; width: number } {
    const width = this.space.clientWidth;
    const left = this.columns[this.left].list.offsetWidth;
    return { left, right: width - this.columns[this.right].list.offsetWidth, width };
  }

  /** An empty canvas as large as the window, in CSS pixels. */
  clear(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
    return clearCanvas(canvas, this.window.clientWidth, this.window.clientHeight);
  }

  token(place: Place): string {
    return this.columns[place.axis].tokens?.shown[place.row] ?? "";
  }

  /** Numbers beside the tokens of one axis, or none. */
  write(values: { axis: Axis; text: (row: number) => string } | null): void {
    this.values = values;
    for (const axis of ["query", "key"] as const) {
      for (const [row, element] of this.columns[axis].shown) this.writeOne(axis, row, element);
    }
  }

  /** Mark the tokens that are kept (pinned), and the one in focus. */
  mark(kept: Readonly<Record<Axis, number | null>>, focus: Place | null): void {
    this.kept = kept;
    for (const axis of ["query", "key"] as const) {
      for (const [row, element] of this.columns[axis].shown) {
        element.setAttribute("aria-selected", String(kept[axis] === row));
        element.toggleAttribute("data-focus", focus?.axis === axis && focus.row === row);
      }
    }
  }

  reveal({ row }: Place): void {
    const { scrollTop, clientHeight } = this.element;
    const top = row * this.row;
    if (top < scrollTop || top + this.row > scrollTop + clientHeight) {
      this.element.scrollTop = Math.max(0, top - clientHeight / 2 + this.row / 2);
      this.render();
    }
  }

  render(): void {
    this.window.style.setProperty("height", `${this.element.clientHeight}px`);
    for (const axis of ["query", "key"] as const) this.renderColumn(axis);
  }

  private makeColumn(axis: Axis): Column {
    const list = make("div", {
      class: `columns-list columns-${axis === this.left ? "left" : "right"}`,
      "data-axis": axis,
      role: "listbox",
      tabindex: 0,
      "aria-label": this.options.labels[axis],
    });
    list.addEventListener("keydown", (event) => this.press(axis, event));
    list.addEventListener("focus", () => this.activate(axis, this.columns[axis].active, false));
    list.addEventListener("blur", () => this.options.point(null));
    return { list, shown: new Map(), tokens: null, crop: null, active: 0 };
  }

  private renderColumn(axis: Axis): void {
    const column = this.columns[axis];
    const count = column.tokens?.shown.length ?? 0;
    const [first, last] = this.view(axis).rows;
    const from = Math.max(0, first - AROUND);
    const to = Math.min(count, last + AROUND);
    for (const [row, element] of column.shown) {
      if (row >= from && row < to) continue;
      element.remove();
      column.shown.delete(row);
    }
    for (let row = from; row < to; row++) {
      if (!column.shown.has(row)) column.shown.set(row, this.makeOption(axis, row, count));
    }
  }

  private makeOption(axis: Axis, row: number, count: number): HTMLElement {
    const { tokens, list, crop } = this.columns[axis];
    const part = crop?.(row) ?? null;
    const element = make(
      "div",
      {
        class: "columns-token",
        role: "option",
        id: `${this.name}-${axis}-${row}`,
        "aria-setsize": count,
        "aria-posinset": row + 1,
        "aria-selected": String(this.kept[axis] === row),
        "data-row": row,
        "data-special": tokens?.special[row] === true,
        style: { top: `${row * this.row}px` },
      },
      make("span", { class: "columns-number" }, row + (tokens?.start ?? 0)),
      make("span", { class: "columns-text", dir: "auto" }, tokens?.shown[row] ?? ""),
      part && drawCrop(part, Math.min(LARGEST_CROP, this.row - 2)),
      make("span", { class: "columns-value" }),
    );
    this.writeOne(axis, row, element);
    list.append(element);
    return element;
  }

  private writeOne(axis: Axis, row: number, element: HTMLElement): void {
    const text = this.values?.axis === axis ? this.values.text(row) : "";
    write(element.lastElementChild!, text);
  }

  private placeOf(event: MouseEvent): Place | null {
    const { x, y } = pointIn(this.space, event);
    const row = Math.floor(y / this.row);
    const { left, right } = this.lane();
    const axis = x <= left ? this.left : x >= right ? this.right : null;
    if (axis === null || row < 0 || row >= (this.columns[axis].tokens?.shown.length ?? 0)) return null;
    return { axis, row };
  }

  private press(axis: Axis, event: KeyboardEvent): void {
    const { active, tokens } = this.columns[axis];
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.row) - 1);
    const to = moveInList(event.key, active, tokens?.shown.length ?? 1, "down", page);
    if (to !== undefined) this.activate(axis, to, true);
    else if (event.key === "ArrowLeft") this.columns[this.left].list.focus();
    else if (event.key === "ArrowRight") this.columns[this.right].list.focus();
    else if (event.key === "Enter" || event.key === " ") this.options.choose({ axis, row: active });
    else if (event.key === "Escape") this.options.leave();
    else return;
    consume(event);
  }

  private activate(axis: Axis, row: number, moved: boolean): void {
    const column = this.columns[axis];
    column.active = row;
    if (moved) this.reveal({ axis, row });
    column.list.setAttribute("aria-activedescendant", `${this.name}-${axis}-${row}`);
    this.options.point({ axis, row });
  }
}
