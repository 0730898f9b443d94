import { expect, test } from "vitest";
import { drawAxes, layAxes, wordsBeside, writeAxes } from "./heat_axes";
import { inks } from "./paper";

const tokens = { get: (at: number) => `token${at}`, isSpecial: () => false };
const axis = { tokens, start: 0, count: 14 };

test("names of rows are left out where a larger one lies over them", () => {
  const box = { left: 60, top: 50, width: 400, height: 140 };
  const camera = { query: 0, key: 0, wide: 28, high: 10 };
  const extent = { queries: 14, keys: 14 };
  const { words } = layAxes(box, camera, extent, { query: axis, key: axis }, (text) => 6 * text.length);
  const rows = (all: typeof words) => all.filter(({ turned }) => !turned).map(({ text }) => text);
  expect(rows(words)).toEqual([0, 2, 4, 6, 8, 10, 12].map((at) => `token${at}`)); // names alone, no numbers
  const shown = wordsBeside(words, [{ down: false, at: 50 + 5.5 * 10 }]); // the plate of row 5
  expect(rows([...shown])).toEqual([0, 2, 8, 10, 12].map((at) => `token${at}`));
  expect(shown.filter(({ turned }) => turned).length).toBe(14); // columns are not in its way
});

test("parts of a picture stand in place of names, one beside its row and one above its column", () => {
  const image = {} as ImageBitmap;
  const crop = (at: number) => (at === 0 ? null : { image, box: [10 * at, 0, 10, 20] as const });
  const pictured = { tokens: { ...tokens, crop }, start: 0, count: 3 };
  const box = { left: 60, top: 50, width: 90, height: 60 };
  const camera = { query: 0, key: 0, wide: 30, high: 20 };
  const axes = { query: pictured, key: pictured };
  const laid = layAxes(box, camera, { queries: 3, keys: 3 }, axes, (text) => 6 * text.length);
  const drawn: unknown[][] = [];
  const written: string[] = [];
  const context = new Proxy({} as Record<string, unknown>, {
    get:
      (_, name) =>
      (...given: unknown[]) => {
        if (name === "drawImage") drawn.push(given.slice(1));
        if (name === "fillText") written.push(String(given[0]));
      },
    set: () => true,
  });
  drawAxes(context as unknown as CanvasRenderingContext2D, laid, inks("light"));
  expect(written).toEqual(["token0", "token0"]); // the class token, on both axes
  const [row, , column] = drawn;
  expect(row!.slice(0, 4)).toEqual([10, 0, 10, 20]);
  expect(row![6]).toBe(18); // as high as its row
  expect(Number(row![5]) + 9).toBeCloseTo(50 + 1.5 * 20, 6); // in its middle
  expect(Number(column![4]) + Number(column![6]) / 2).toBeCloseTo(60 + 1.5 * 30, 6);
  const saved = writeAxes(laid, inks("light")); // the same in a picture that is saved
  const images = [...saved.matchAll(/<image x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"/g)];
  const numbers = images.map((found) => found.slice(1).map(Number));
  expect(numbers).toHaveLength(4);
  for (const [at, place] of drawn.entries()) expect(numbers[at]![0]).toBeCloseTo(Number(place[4]), 1);
  expect(saved.match(/token\d/g)).toEqual(["token0", "token0"]);
});
