import { expect, test } from "vitest";
import { smooth } from "./smooth";

test("an average of the past, unbiased at its start, with gaps kept", () => {
  expect(smooth([3, 5, null, 7], 0)).toEqual([3, 5, null, 7]);
  const [first, second, gap, last] = smooth([3, 5, null, 7], 0.5);
  expect([first, gap]).toEqual([3, null]);
  expect(second).toBeCloseTo((0.25 * 3 + 0.5 * 5) / 0.75, 12);
  expect(last).toBeCloseTo((0.125 * 3 + 0.25 * 5 + 0.5 * 7) / 0.875, 12);
});

test("what does not change stays what it is", () => {
  for (const value of smooth([2, 2, 2, 2], 0.9)) expect(value).toBeCloseTo(2, 12);
});
