import { describe, expect, it, vi } from "vitest";

import type { WeightTile } from "../core/heat";
import { type Address, cover, levelFor, SIZE, Tiles } from "./tiles";

const EXTENT = { queries: 100_000, keys: 100_000 };

function weightTile({ level, row, column }: Address): WeightTile {
  return {
    bytes: new Uint8Array(4),
    width: 2,
    height: 2,
    level,
    row: row * SIZE,
    column: column * SIZE,
    maximum: 1,
    zero: 0,
  };
}

/** Fetches that the test answers by hand. */
function byHand() {
  const asked: { address: Address; signal: AbortSignal; answer(): void; refuse(): void }[] = [];
  const fetch = (address: Address, signal: AbortSignal): Promise<WeightTile> =>
    new Promise((resolve, reject) => {
      asked.push({
        address,
        signal,
        answer: () => resolve(weightTile(address)),
        refuse: () => reject(new Error("no")),
      });
    });
  return { asked, fetch };
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

describe("the level of a zoom", () => {
  it("has pixels of one to two device pixels, and stays within the levels", () => {
    for (const scale of [0.01, 0.02, 0.3, 0.5, 0.51, 0.99, 1]) {
      const level = levelFor(scale, 20);
      expect(scale * 2 ** level).toBeGreaterThanOrEqual(1 - 1e-9);
      expect(scale * 2 ** level).toBeLessThan(2);
    }
    expect(levelFor(30, 10)).toBe(0);
    expect(levelFor(0.0001, 10)).toBe(9);
  });
});

describe("what covers a view", () => {
  it("is every tile that touches it, nearest first", () => {
    const look = { camera: { key: 1000, query: 500, wide: 1, high: 1 }, width: 600, height: 300 };
    const tiles = cover(look, EXTENT, 0, { query: 520, key: 1590 });
    expect(tiles[0]).toEqual({ level: 0, row: 2, column: 6 });
    expect(new Set(tiles.map(({ row }) => row))).toEqual(new Set([1, 2, 3]));
    expect(new Set(tiles.map(({ column }) => column))).toEqual(new Set([3, 4, 5, 6]));
  });

  it("does not reach beyond the map", () => {
    const look = { camera: { key: 99_900, query: 99_900, wide: 1, high: 1 }, width: 600, height: 600 };
    expect(cover(look, EXTENT, 0, { query: 0, key: 0 })).toEqual([{ level: 0, row: 390, column: 390 }]);
  });
});

describe("tiles", () => {
  const heard = () => ({ arrived: vi.fn(), failed: vi.fn() });
  const list = (count: number): Address[] =>
    Array.from({ length: count }, (_, column) => ({ level: 0, row: 0, column }));

  it("are fetched a few at a time, in the order asked for", async () => {
    const { asked, fetch } = byHand();
    const tiles = new Tiles(fetch, heard(), 10, null);
    tiles.want(list(9));
    expect(asked.map(({ address }) => address.column)).toEqual([0, 1, 2, 3]);
    asked[1]!.answer();
    await settled();
    expect(asked[4]!.address.column).toBe(4);
    expect(tiles.missing).toBe(8);
  });

  it("that are no longer wanted are given up", () => {
    const { asked, fetch } = byHand();
    const tiles = new Tiles(fetch, heard(), 10, null);
    tiles.want(list(2));
    tiles.want([
      { level: 0, row: 0, column: 1 },
      { level: 0, row: 5, column: 5 },
    ]);
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
  });

  it("have a parent to stand in, or the root", async () => {
    const { asked, fetch } = byHand();
    const root = weightTile({ level: 9, row: 0, column: 0 });
    const tiles = new Tiles(fetch, heard(), 10, root);
    const child: Address = { level: 0, row: 5, column: 7 };
    expect(tiles.best(child)).toBe(root);
    tiles.want([{ level: 2, row: 1, column: 1 }]);
    asked[0]!.answer();
    await settled();
    expect(tiles.best(child)?.level).toBe(2);
    const [placement] = tiles.place([child], EXTENT);
    expect(placement).toMatchObject({ queries: [1280, 1536], keys: [1792, 2048] });
    tiles.want([child]);
    asked[1]!.answer();
    await settled();
    expect(tiles.best(child)?.level).toBe(0);
  });

  it("that fail are told once and not asked for again at once", async () => {
    const { asked, fetch } = byHand();
    const ears = heard();
    const tiles = new Tiles(fetch, ears, 10, null);
    tiles.want(list(1));
    asked[0]!.refuse();
    await settled();
    tiles.want(list(1));
    expect(asked.length).toBe(1);
    expect(ears.failed).toHaveBeenCalledOnce();
  });

  it("are kept up to a number, the longest unused go first", async () => {
    const fetch = (address: Address): Promise<WeightTile> => Promise.resolve(weightTile(address));
    const tiles = new Tiles(fetch, heard(), 10, null);
    for (let row = 0; row < 40; row++) {
      tiles.want(list(10).map((address) => ({ ...address, row })));
      for (let round = 0; round < 12; round++) await settled();
    }
    expect(tiles.get({ level: 0, row: 0, column: 0 })).toBeUndefined();
    expect(tiles.get({ level: 0, row: 39, column: 9 })).toBeDefined();
  });

  it("say nothing after the end", async () => {
    const { asked, fetch } = byHand();
    const ears = heard();
    const tiles = new Tiles(fetch, ears, 10, null);
    tiles.want(list(1));
    tiles.dispose();
    asked[0]!.answer();
    await settled();
    expect(ears.arrived).not.toHaveBeenCalled();
  });
});
