import { expect, test } from "vitest";
import { strongest } from "./readout";

test("the strongest come first, nothing for nothing", () => {
  expect(strongest([0.1, 0.5, 0, 0.3], 2)).toEqual([1, 3]);
  expect(strongest([0, 0], 5)).toEqual([]);
});
