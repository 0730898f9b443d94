import { describe, expect, it, vi } from "vitest";
import { type Column, SortTable, sortRows, ValueGrid } from "./table";

interface Row {
  readonly name: string;
  readonly number: number | null;
}

const COLUMNS: readonly Column<Row>[] = [
  { name: "name", label: "Name", value: (row) => row.name },
  { name: "number", label: "Number", value: (row) => row.number, why: () => "nothing to divide by" },
];
const ROWS: readonly Row[] = [
  { name: "a", number: 2 },
  { name: "b", number: null },
  { name: "c", number: 1 / 3 },
];

describe("sortRows", () => {
  it("sorts both ways and keeps what is undefined last", () => {
    const names = (down: boolean) => sortRows(ROWS, COLUMNS, { name: "number", down }).map((row) => row.name);
    expect(names(true)).toEqual(["a", "c", "b"]);
    expect(names(false)).toEqual(["c", "a", "b"]);
    expect(sortRows(ROWS, COLUMNS, null)).toBe(ROWS);
  });
});

describe("SortTable", () => {
  const look = (rows: readonly Row[] = ROWS) => ({
    caption: "Numbers",
    columns: COLUMNS,
    rows,
    sorting: { name: "number", down: true },
    none: "undefined",
    chosen: (row: Row) => row.name === "c",
    sort: vi.fn(),
    choose: vi.fn(),
  });

  it("shows four digits, the exact value on hover, and why a value is missing", () => {
    const table = new SortTable(look());
    const cells = [...table.element.querySelectorAll<HTMLElement>('td[data-column="number"]')];
    expect(cells.map((cell) => cell.textContent)).toEqual([
      "2\u2008\u2007\u2007\u2007\u2007", // points are under one another
      "0.3333",
      "undefined",
    ]);
    expect(cells[1]?.title).toBe(String(1 / 3));
    expect(cells[2]?.title).toBe("nothing to divide by");
    expect(table.element.querySelector('th[data-column="number"]')?.getAttribute("aria-sort")).toBe(
      "descending",
    );
    expect(table.element.querySelector("tr.chosen")?.textContent).toContain("c");
  });

  it("calls back for another order and another row", () => {
    const asked = look();
    const table = new SortTable(asked);
    table.element.querySelector<HTMLElement>('th[data-column="number"] button')?.click();
    expect(asked.sort).toHaveBeenCalledWith({ name: "number", down: false });
    table.element.querySelector<HTMLElement>("tbody tr[data-row] button")?.click();
    expect(asked.choose).toHaveBeenCalledWith(ROWS[0]);
  });

  it("draws a window of a long table", () => {
    const many = Array.from({ length: 5000 }, (_, at) => ({ name: String(at), number: at }));
    const table = new SortTable(look(many));
    expect(table.element.querySelectorAll("tr[data-row]").length).toBeLessThan(60);
    expect(table.element.querySelector("table")?.getAttribute("aria-rowcount")).toBe("5001");
  });
});

describe("ValueGrid", () => {
  it("draws the cells in sight only", () => {
    const grid = new ValueGrid({
      label: "values",
      corner: "token",
      rows: 1000,
      columns: 1000,
      rowWidth: 100,
      cellWidth: 60,
      row: String,
      column: String,
      cell: (row, column) => ({ text: `${row}:${column}`, title: "" }),
    });
    const cells = grid.element.querySelectorAll("td");
    expect(cells.length).toBe(9 * 12); // 640 × 320 where nothing is laid out
    expect(cells[0]?.textContent).toBe("0:0");
  });
});
