/**
 * Tables of numbers: one that sorts and selects, one that looks through a window at a large array.
 *
 * In:   rows and columns, or the size of an array and a function for its cells.
 * Out:  elements that draw only what is in sight.
 */

import { aligned, exact } from "../core/formats";
import { consume, moveInList } from "./keys";
import { make, setStyle, write } from "./make";
import "./table.css";

export interface Column<Row> {
  readonly name: string;
  readonly label: string;
  readonly title?: string | undefined; // said on hover of the label
  readonly beside?: Node | undefined; // under the label: a strip, a note
  value(row: Row): number | string | null; // sorted by; copied
  /** What stands in the cell, where it is not the value in four digits. */
  cell?(row: Row): Node | string;
  /** Why there is no value. */
  why?(row: Row): string | null;
  readonly fixed?: boolean; // cannot be sorted by
}

export interface Sorting {
  readonly name: string;
  readonly down: boolean; // largest first
}

export interface TableLook<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly sorting: Sorting | null;
  readonly none: string; // what stands where there is no value
  chosen(row: Row): boolean;
  sort(sorting: Sorting): void;
  choose(row: Row): void;
}

const ROW = 32; // pixels, as in the style sheet
const MORE = 12; // rows drawn beyond the window

/** A table one can sort and choose from; `show` gives it other rows or another choice. */
export class SortTable<Row> {
  readonly element: HTMLElement;
  private readonly head = make("tr");
  private readonly body = make("tbody");
  private readonly table: HTMLTableElement;
  private readonly name = make("caption");
  private look: TableLook<Row>;
  private sorted: readonly Row[] = [];
  private formats = new Map<Column<Row>, (value: number) => string>();
  private first = 0;
  private last = 0;
  private revealed = -1;

  constructor(look: TableLook<Row>) {
    this.look = look;
    this.table = make("table", {}, this.name, make("thead", {}, this.head), this.body);
    this.element = make("div", { class: "sort-table", tabindex: -1 }, this.table);
    this.element.addEventListener("scroll", () => this.window(false), { passive: true });
    this.body.addEventListener("keydown", (event) => this.move(event));
    this.show(look);
  }

  show(look: TableLook<Row>): void {
    this.look = look;
    this.sorted = sortRows(look.rows, look.columns, look.sorting);
    this.formats = new Map(
      look.columns.map((column) => [column, aligned(look.rows.map((row) => column.value(row)))]),
    );
    write(this.name, look.caption);
    this.table.setAttribute("aria-rowcount", String(this.sorted.length + 1));
    this.head.replaceChildren(...look.columns.map((column) => this.heading(column)));
    this.window(true);
  }

  /** Bring the chosen row in sight, where another one is chosen than last time. */
  reveal(): void {
    const at = this.sorted.findIndex((row) => this.look.chosen(row));
    if (at === this.revealed) return;
    this.revealed = at;
    if (at >= 0) this.scrollTo(at);
  }

  /** Rows as they are sorted now. */
  rows(): readonly Row[] {
    return this.sorted;
  }

  /** Draw the rows in sight; call after a change of size. */
  window(always: boolean): void {
    const tall = this.element.clientHeight || 600;
    const first = Math.max(0, Math.floor(this.element.scrollTop / ROW) - MORE);
    const last = Math.min(this.sorted.length, first + Math.ceil(tall / ROW) + 2 * MORE);
    if (!always && first === this.first && last === this.last) return;
    const focused = this.body.contains(this.active()) ? this.focusedRow() : null;
    [this.first, this.last] = [first, last];
    const rows = this.sorted.slice(first, last).map((row, at) => this.row(row, first + at));
    this.body.replaceChildren(spacer(first * ROW), ...rows, spacer((this.sorted.length - last) * ROW));
    if (focused !== null) this.focus(focused);
  }

  private heading(column: Column<Row>): HTMLTableCellElement {
    const { sorting } = this.look;
    const on = sorting?.name === column.name;
    const [state, arrow] = !on ? ["none", ""] : sorting.down ? ["descending", "▾"] : ["ascending", "▴"];
    const onclick = () => this.look.sort({ name: column.name, down: on ? !sorting.down : true });
    const pointer = make("span", { class: "arrow", "aria-hidden": "true" }, arrow);
    const look = { scope: "col", "data-column": column.name, title: column.title };
    return column.fixed === true
      ? make("th", look, make("span", {}, column.label), column.beside)
      : make(
          "th",
          { ...look, "aria-sort": state },
          make("button", { type: "button", onclick }, column.label, pointer),
          column.beside,
        );
  }

  private row(row: Row, at: number): HTMLTableRowElement {
    const chosen = this.look.chosen(row);
    const cells = this.look.columns.map((column, place) => {
      const shown = this.cell(column, row);
      if (place > 0) return shown;
      const press = { type: "button", "aria-pressed": String(chosen) };
      return make("th", { scope: "row" }, make("button", press, shown.textContent ?? ""));
    });
    const look = { "aria-rowindex": at + 2, "data-row": at, class: chosen ? "chosen" : null };
    return make("tr", { ...look, onclick: () => this.look.choose(row) }, ...cells);
  }

  private cell(column: Column<Row>, row: Row): HTMLTableCellElement {
    const value = column.value(row);
    const look = { "data-column": column.name };
    if (value === null)
      return make("td", { ...look, class: "none", title: column.why?.(row) }, this.look.none);
    const number = typeof value === "number";
    const shown = column.cell?.(row) ?? (number ? this.formats.get(column)!(value) : value);
    const title = number && typeof shown === "string" ? exact(value) : null;
    return make("td", { ...look, title, class: number ? "number" : null }, shown);
  }

  /** What has the focus, in the page or in the shadow root we live in. */
  private active(): Element | null {
    const root = this.element.getRootNode();
    return root instanceof Document || root instanceof ShadowRoot ? root.activeElement : null;
  }

  private focusedRow(): number {
    return Number((this.active()?.closest("tr") as HTMLElement | null)?.dataset.row ?? 0);
  }

  private focus(at: number): void {
    this.body.querySelector<HTMLButtonElement>(`tr[data-row="${at}"] button`)?.focus({ preventScroll: true });
  }

  private scrollTo(at: number): void {
    const head = this.head.offsetHeight;
    const { scrollTop, clientHeight } = this.element;
    if (at * ROW < scrollTop) this.element.scrollTop = at * ROW;
    else if ((at + 1) * ROW + head > scrollTop + clientHeight)
      this.element.scrollTop = (at + 1) * ROW + head - clientHeight;
  }

  private move(event: KeyboardEvent): void {
    const at = moveInList(event.key, this.focusedRow(), this.sorted.length, "down");
    if (at === undefined) return;
    consume(event);
    this.scrollTo(at);
    this.window(true);
    this.focus(at);
  }
}

/** Rows by a column; what is undefined goes last either way, and equals keep their order. */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sorting: Sorting | null,
): readonly Row[] {
  const column = columns.find((each) => each.name === sorting?.name);
  if (sorting === null || column === undefined) return rows;
  const turn = sorting.down ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [left, right] = [column.value(one), column.value(other)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    if (typeof left === "number" && typeof right === "number") return turn * (left - right);
    return turn * String(left).localeCompare(String(right));
  });
}

export interface GridLook {
  readonly label: string;
  readonly corner: string;
  readonly rows: number;
  readonly columns: number;
  readonly rowWidth: number; // of the row labels
  readonly cellWidth: number;
  row(at: number): string;
  column(at: number): string;
  /** Null: not here yet. */
  cell(
    row: number,
    column: number,
  ): { text: string; title: string; colour?: string | undefined; ink?: string | undefined } | null;
  point?(row: number, column: number): void;
}

const CELL = 24;

/** A window on a large array: scrolls a whole cell at a time, headings stay. */
export class ValueGrid {
  readonly element: HTMLElement;
  private readonly spacer = make("div", { class: "spacer" });
  private readonly table = make("table");
  private look: GridLook;

  constructor(look: GridLook) {
    this.look = look;
    this.element = make("div", { class: "value-grid", tabindex: 0, role: "region" }, this.spacer);
    this.spacer.append(this.table);
    this.element.addEventListener("scroll", () => this.draw(), { passive: true });
    this.show(look);
  }

  show(look: GridLook): void {
    this.look = look;
    this.element.setAttribute("aria-label", look.label);
    this.table.setAttribute("aria-label", look.label);
    this.table.setAttribute("aria-rowcount", String(look.rows + 1));
    this.table.setAttribute("aria-colcount", String(look.columns + 1));
    const width = `${look.rowWidth + look.columns * look.cellWidth}px`;
    setStyle(this.spacer, { width, height: `${(look.rows + 1) * CELL}px` });
    this.draw();
  }

  /** Bring a row in sight, a third from the top. */
  reveal(row: number): void {
    const tall = this.element.clientHeight || 320;
    const top = row * CELL - this.element.scrollTop;
    if (top >= 0 && top < tall - 2 * CELL) return;
    this.element.scrollTop = row * CELL - tall / 3;
    this.draw();
  }

  /** The cells in sight. */
  draw(): void {
    const { look } = this;
    const wide = this.element.clientWidth || 640;
    const tall = this.element.clientHeight || 320;
    const across = Math.min(look.columns, Math.max(1, Math.floor((wide - look.rowWidth) / look.cellWidth)));
    const down = Math.min(look.rows, Math.max(1, Math.floor(tall / CELL) - 1));
    const left = Math.min(look.columns - across, Math.ceil(this.element.scrollLeft / look.cellWidth - 0.01));
    const top = Math.min(look.rows - down, Math.ceil(this.element.scrollTop / CELL - 0.01));
    const columns = Array.from({ length: across }, (_, at) => left + at);
    const heading = make(
      "tr",
      { "aria-rowindex": 1 },
      make("th", { scope: "col" }, look.corner),
      ...columns.map((at) => make("th", { scope: "col", "aria-colindex": at + 2 }, look.column(at))),
    );
    const rows = Array.from({ length: down }, (_, at) => top + at).map((row) =>
      make(
        "tr",
        { "aria-rowindex": row + 2 },
        make("th", { scope: "row", dir: "auto", title: look.row(row) }, look.row(row)),
        ...columns.map((column) => this.cell(row, column)),
      ),
    );
    this.table.replaceChildren(make("thead", {}, heading), make("tbody", {}, ...rows));
  }

  private cell(row: number, column: number): HTMLTableCellElement {
    const content = this.look.cell(row, column);
    const { colour = "", ink = "" } = content ?? {};
    return make(
      "td",
      {
        title: content?.title,
        "data-at": `${row},${column}`,
        style: { background: colour, color: ink },
        onclick: () => this.look.point?.(row, column),
      },
      content?.text ?? "…",
    );
  }
}

function spacer(height: number): HTMLTableRowElement {
  const style = { height: `${Math.max(0, height)}px` };
  return make("tr", { class: "spacer", "aria-hidden": "true", style });
}
