import { describe, expect, test } from "vitest";
import { readTable } from "../../data/walk_arrays";
import { frame } from "../../testing/recording";
import { largest } from "./arithmetic";
import { fitCell, rowHeight } from "./layout";
import { brief, grid, limitOf, paint, place } from "./values";

const two = frame({ values: { shape: [2, 3], data: Float32Array.from([1, 2, 3, 4, 5, 6]) } });

describe("grids", () => {
  test("rows and columns, and turned", () => {
    expect(readTable(two)).toMatchObject({ rows: 2, columns: 3 });
    const turned = readTable(two, true);
    expect(turned).toMatchObject({ rows: 3, columns: 2 });
    expect([...turned.values]).toEqual([1, 4, 2, 5, 3, 6]);
  });

  test("a few outliers do not make the rest pale", () => {
    const values = new Float32Array(1000).fill(1);
    values[500] = 100;
    expect(limitOf(values)).toBe(1);
    expect(limitOf(Float32Array.from([1, -3, 2]))).toBe(3);
    expect(limitOf(Float32Array.from([Number.NEGATIVE_INFINITY]))).toBe(1);
    expect(limitOf(new Float32Array(4))).toBe(1);
  });

  test("colours run both ways from nothing; masked cells have none", () => {
    const table = grid({
      rows: 1,
      columns: 4,
      values: Float32Array.from([-2, 0, 2, Number.NEGATIVE_INFINITY]),
    });
    expect([-2, 0, 2].map((value) => place(table, value))).toEqual([0, 127.5, 255]);
    expect(place(table, Number.NEGATIVE_INFINITY)).toBeNull();
    const pixels = paint(table, "light");
    expect(pixels[3]).toBe(255);
    expect(pixels[15]).toBe(0);
  });

  test("shares run from 0 to 1", () => {
    const table = grid({ rows: 1, columns: 2, values: Float32Array.from([0, 1]) }, { share: true });
    expect([0, 0.25, 1].map((value) => place(table, value))).toEqual([0, 127.5, 255]);
  });

  test("numbers are short and honest about signs", () => {
    expect([0.123, -4.567, 12.34, 1234.5, 0, 1, Number.NEGATIVE_INFINITY].map(brief)).toEqual([
      "0.12",
      "−4.57",
      "12.3",
      "1235",
      "0",
      "1",
      "−∞",
    ]);
  });

  test("cells fit", () => {
    expect(fitCell(10, 1000)).toBe(46);
    expect(fitCell(256, 512)).toBe(2);
    expect(fitCell(1024, 512)).toBe(0.5);
    expect(rowHeight(8)).toBeGreaterThan(rowHeight(200));
  });

  test("the largest terms, in their order", () => {
    const terms = [1, -9, 2, 8, 0, 7, 6].map((product, index) => ({
      index,
      product,
      left: 1,
      right: product,
      label: "",
      large: false,
    }));
    expect(largest(terms, 3)).toEqual([1, 3, 5]);
    expect(largest(terms.slice(0, 2), 3)).toEqual([0, 1]);
  });
});
