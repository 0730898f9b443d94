import { expect, test } from "vitest";
import { rowHeight } from "./columns";

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
