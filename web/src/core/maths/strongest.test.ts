import { expect, test } from "vitest";
import { strongest } from "./strongest";

test("the strongest come first, nothing for nothing", () => {
  const of = (values: readonly number[], most: number, least?: number) =>
    strongest(values.length, (place) => values[place]!, most, least);
  expect(of([0.1, 0.5, 0, 0.3], 2)).toEqual([1, 3]);
  expect(of([0, 0], 5)).toEqual([]);
  expect(of([0.1, 0.5, 0.3], 5, 0.2)).toEqual([1, 2]);
});
