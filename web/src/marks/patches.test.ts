import { expect, test } from "vitest";
import { PatchField, placesOf, veilColour } from "./patches";

test("colours cover more where there is more, and light hides what has nothing", () => {
  const look = { maximum: 0.5, signed: false, paint: "colour" } as const;
  const covers = [0, 0.1, 0.25, 0.5, 2].map((value) => veilColour(value, look)[3]);
  expect(covers).toEqual([115, 133, 159, 204, 204]);
  expect(veilColour(0, { ...look, paint: "light" })).toEqual([0, 0, 0, 217]);
  expect(veilColour(0.5, { ...look, paint: "light" })[3]).toBe(0);
  expect(veilColour(Number.NaN, look)[3]).toBe(0);
  const [less, more] = [-0.5, 0.5].map((value) => veilColour(value, { ...look, signed: true }));
  expect(less![2]).toBeGreaterThan(less![0]); // blue below zero
  expect(more![0]).toBeGreaterThan(more![2]);
});

test("numbers have as many places as three digits of the largest need", () => {
  expect([0.1447, 0.0102, 0.67, 12.3, 480, 0].map(placesOf)).toEqual([3, 4, 3, 1, 0, 0]);
});

test("the cell under the pointer, in rows and columns of different number", () => {
  const pointed: (number | null)[] = [];
  const field = new PatchField({
    label: "A picture",
    point: (cell) => pointed.push(cell),
    choose: () => {},
    walk: () => {},
    leave: () => {},
  });
  field.show(null, { rows: 2, columns: 4 }, 400, 100);
  field.element.getBoundingClientRect = () => new DOMRect(10, 20, 400, 100);
  for (const [clientX, clientY] of [
    [11, 21],
    [309, 21],
    [311, 119],
    [411, 119],
  ] as const)
    field.element.dispatchEvent(new MouseEvent("pointermove", { clientX, clientY }));
  expect(pointed).toEqual([0, 2, 7, null]);
});
