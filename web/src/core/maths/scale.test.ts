import { expect, it } from "vitest";
import { linear, ticks } from "./scale";

it("maps both ways", () => {
  const scale = linear([-2, 2], [10, 50]);
  expect(scale(0)).toBe(30);
  expect(scale.back(50)).toBe(2);
});

it("labels round values", () => {
  expect(ticks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
  expect(ticks(-3.2, 3.1, 4)).toEqual([-2, 0, 2]);
  expect(ticks(5, 5, 4)).toEqual([5]);
});
