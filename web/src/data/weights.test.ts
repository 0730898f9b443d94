import { expect, test } from "vitest";
import { quantise } from "../core/heat";
import { chooseHead } from "../core/maps";
import { frame, invent, makeMap, weightOf } from "../testing/recording";
import { Blocks, readColumn, readHeads, readMass, readRow } from "./weights";

const { source, asked } = invent({ source: ["a", "b", "c", "d"], heads: 3 });
const map = source.description.maps[1]!;

test("a row, a column and all heads are those of the formula", async () => {
  const row = await readRow(source, map, 2, 1);
  expect([...row]).toEqual([0, 1, 2, 3].map((key) => Math.fround(weightOf(1, 2, 1, key, 4))));
  const column = await readColumn(source, map, 0, 3);
  expect([...column]).toEqual([0, 1, 2, 3].map((query) => Math.fround(weightOf(1, 0, query, 3, 4))));
  const heads = await readHeads(source, map, { query: 2 });
  expect(heads.length).toBe(12);
  expect(heads[1 * 4 + 3]).toBeCloseTo(weightOf(1, 1, 2, 3, 4), 6);
});

test("the mass of a layer is the mean over heads", async () => {
  const [one, all] = [await readMass(source, map, 1), await readMass(source, map, "mean")];
  expect(one[2]).toBeCloseTo(
    [0, 1, 2, 3].reduce((sum, query) => sum + weightOf(1, 1, query, 2, 4), 0),
    5,
  );
  expect([...all].reduce((sum, each) => sum + each, 0)).toBeCloseTo(4, 5); // rows sum to one
});

test("a small map is one block, fetched once, with sums by byte", async () => {
  const blocks = new Blocks(source, map);
  expect(blocks.whole).toBe(true);
  const before = asked.length;
  const [block] = await Promise.all([blocks.load(0), blocks.load(3)]);
  expect(asked.length).toBe(before + 1);
  expect(blocks.at(2)).toBe(block);
  const all = [...block.weightOf].reduce((sum, each) => sum + each, 0);
  expect(all).toBeCloseTo(12, 0); // 3 heads, 4 rows of one each, as far as bytes tell
});

test("a large map comes in blocks, and old ones are forgotten", async () => {
  const large = makeMap(0, { queries: 8000, keys: 8000, heads: 12 });
  const calls: string[] = [];
  const many = {
    ...source,
    async weights(_: unknown, where: { queries?: readonly [number, number] }) {
      const [first, last] = where.queries!;
      calls.push(`${first}:${last}`);
      return frame({
        weights: { shape: [12, last - first, 8000], data: new Uint8Array(12 * (last - first) * 8000) },
      });
    },
  };
  const blocks = new Blocks(many as typeof source, large);
  expect(blocks.whole).toBe(false);
  expect(blocks.size).toBe(10);
  for (let row = 0; row < 300; row += 10) await blocks.load(row);
  expect(calls).toHaveLength(30);
  expect(blocks.at(299)).toBeDefined();
  expect(blocks.at(0)).toBeUndefined();
});

test("bytes keep what is not zero, and zero stays zero", () => {
  expect([...quantise(Float32Array.of(0, 1e-9, 0.25, 1), false).bytes]).toEqual([0, 1, 128, 255]);
});

test("a head that a map lacks becomes its last", () => {
  expect(chooseHead(map, 11)).toBe(2);
  expect(chooseHead(map, "mean")).toBe("mean");
});
