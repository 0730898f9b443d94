import { expect, test } from "vitest";
import { measureField } from "./field";

const WORDS = [">>fr<<", "␣bought", "␣a", "␣red"];

test("cells have all the room that labels and strip leave", () => {
  for (const width of [300, 420, 480, 900]) {
    for (const layers of [3, 7, 13]) {
      for (const strip of [false, true]) {
        const { left, wide } = measureField(width, layers, { tokens: WORDS, strip, widest: Infinity });
        const blank = 1 - (left + layers * wide) / width;
        expect(blank).toBeGreaterThanOrEqual(0);
        expect(blank).toBeLessThan(strip ? 0.13 : 0.05);
        expect(left).toBeLessThan(90); // no more than these words need
      }
    }
  }
});

test("long labels leave two thirds to the cells, and a cell has its largest width", () => {
  const { left } = measureField(400, 7, { tokens: ["x".repeat(90)], strip: false, widest: Infinity });
  expect(left).toBe(Math.round(0.32 * 388));
  expect(measureField(2000, 3, { tokens: WORDS, strip: true, widest: 120 }).wide).toBe(120);
});
