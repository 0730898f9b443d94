import { expect, test, vi } from "vitest";
import type { TokenSlice } from "../api/types";
import { Columns, rowHeight } from "./columns";

test("rows fill the room of a short text, and scroll for a long one", () => {
  for (const [room, counts] of [
    [560, [5, 12, 24]], // of a window of 1440 × 900
    [320, [5, 12]], // of a telephone
  ] as const)
    for (const count of counts) {
      const blank = 1 - (count * rowHeight(room, count)) / room;
      expect(blank).toBeGreaterThanOrEqual(0);
      expect(blank).toBeLessThan(0.1);
    }
  for (const count of [64, 512, 8192]) expect(rowHeight(560, count)).toBe(22);
  expect(rowHeight(560, 1)).toBe(120); // one token is not a page high
  expect(rowHeight(0, 0)).toBe(22);
});

test("rows fit again where a line above takes some of their room", () => {
  let tell = (): void => {};
  class Observer {
    constructor(heard: () => void) {
      tell = heard;
    }
    observe(): void {}
  }
  vi.stubGlobal("ResizeObserver", Observer);
  const nothing = (): void => {};
  const columns: Columns = new Columns({
    ...{ point: nothing, choose: nothing, leave: nothing, scroll: nothing },
    labels: { query: "queries", key: "keys" },
    resized: () => columns.resize(),
  });
  let height = 530;
  Object.defineProperty(columns.element, "clientHeight", { get: () => height });
  const tokens = { shown: Array(14).fill("a"), special: [], start: 0 } as unknown as TokenSlice;
  columns.setTokens(tokens, tokens);
  expect(columns.row).toBe(37);
  height = 501;
  tell();
  expect(14 * columns.row).toBeLessThanOrEqual(height);
  vi.unstubAllGlobals();
});
