import { expect, test } from "vitest";
import { layAxes, wordsBeside } from "./heat_axes";

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
