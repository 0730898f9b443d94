import { describe, expect, test } from "vitest";
import type { WalkStep } from "../../api/types";
import { arrange, fitGlance, type Room } from "./layout";
import type { Loaded, Panel } from "./panels";
import { grid } from "./values";

const ROOM: Room = [556, 400]; // of a page of 1280 × 720
const tokens = (at: number) => `token${at}`;

function panel(
  rows: number,
  columns: number,
  role: Panel["role"],
  names: Parameters<typeof grid>[1] = {},
): Panel {
  const table = { rows, columns, values: new Float32Array(rows * columns) };
  const rest = { name: "", symbol: "X", turned: false, first: 0, shape: [rows, columns], whole: "" };
  return { ...rest, role, grid: grid(table, names) };
}

function load(...panels: Panel[]): Loaded {
  return { panels, result: panels.at(-1)!, bias: null, column: (at) => at, drawn: (at) => at };
}

const step = (operation: WalkStep["operation"]) => ({ operation }) as WalkStep;

describe("the matrices of a step", () => {
  test.each([5, 15, 40])("fit below one another with %d tokens", (rows) => {
    const three = [0, 1, 2].map((at) => panel(rows, 256, at === 2 ? "result" : "input", { row: tokens }));
    const { kind, items } = arrange(load(...three), step("add"), ROOM);
    expect(kind).toBe("below");
    const high = items.reduce((sum, item) => sum + item.cellHeight * rows, 0);
    expect(high).toBeLessThanOrEqual(rows > 30 ? 400 : 270);
    expect(items.every((item) => item.cellHeight >= 3)).toBe(true);
  });

  test("of a product: the result is on the page, below the factor that it is made with", () => {
    const left = panel(15, 256, "input", { row: tokens });
    const result = panel(15, 32, "result", { row: tokens });
    const { kind, items } = arrange(load(left, panel(256, 32, "parameter"), result), step("product"), ROOM);
    expect(kind).toBe("cross");
    const high = (place: string) => {
      const item = items.find((each) => each.place === place)!;
      return item.cellHeight * item.panel.grid.rows;
    };
    expect(high("top") + high("result") + 34 + 76).toBeLessThanOrEqual(400);
    expect(high("result")).toBeGreaterThan(60);
  });

  test("columns are named once: above the upper factor, or above the result", () => {
    const keys = panel(32, 9, "input", { column: tokens });
    const scores = panel(9, 9, "result", { row: tokens, column: tokens });
    const { items } = arrange(load(panel(9, 32, "input", { row: tokens }), keys, scores), step("dot"), ROOM);
    expect(items.find((item) => item.place === "result")!.bare).toBe(true);
  });

  test("zoom enlarges every cell; on a phone rows keep their height", () => {
    const two = load(panel(9, 16, "input", { row: tokens }), panel(9, 16, "result", { row: tokens }));
    const [one, twice] = [1, 2].map((zoom) => arrange(two, step("norm"), ROOM, zoom).items);
    twice!.forEach((item, at) => {
      expect(item.cellWidth).toBe(2 * one![at]!.cellWidth);
      expect(item.cellHeight).toBe(2 * one![at]!.cellHeight);
    });
    expect(arrange(two, step("norm"), [300, 100]).items[0]!.cellHeight).toBe(17);
  });
});

describe("all layers at a glance", () => {
  test("fit a small page: states above, every head below", () => {
    for (const [rows, heads] of [
      [6, 8], // an encoder of the zoo's translator
      [6, 8],
      [3, 8],
      [12, 12], // BERT base
    ] as const) {
      const room = [555, 330] as const; // of the scene at 1280 × 720
      const { beside, high, columns, head } = fitGlance(room, { planes: rows + 1, rows, heads });
      const below = Math.ceil(rows / columns) * (head + 6);
      const above = 76 + (rows + 1) * high;
      expect(beside).toBe(true);
      if (rows < 12) expect(above + 32 + below).toBeLessThanOrEqual(room[1]);
      else expect(above).toBeLessThan(room[1]); // the matrices are; heads scroll
      expect(columns * (96 + heads * (head + 6))).toBeLessThan(room[0] + 96);
    }
  });

  test("use a large page", () => {
    expect(fitGlance([900, 900], { planes: 7, rows: 6, heads: 8 })).toMatchObject({ high: 20, head: 56 });
  });
});
