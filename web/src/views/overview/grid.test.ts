import { describe, expect, it } from "vitest";
import type { MapDescription, MetricDescription } from "../../api/types";
import { readOptions } from "../../core/options";
import { makeMap } from "../../testing/recording";
import { boxAt, type GridOptions, type Group, labelOf, layGrid, neighbour } from "./grid";
import { filterOf, options, passes, usualMetric } from "./menu";

function map(index: number, layer: number, heads: number): MapDescription {
  return makeMap(index, { layer, heads });
}

function groups(layers: number, heads: number): Group[] {
  return [{ title: "all", maps: Array.from({ length: layers }, (_, layer) => map(layer, layer, heads)) }];
}

function wish(more: Partial<GridOptions> = {}): GridOptions {
  return {
    width: 900,
    height: 700,
    order: "layer",
    numberOf: (at, head) => Number(at.split(".")[2]) * 100 + head,
    keeps: () => true,
    pixels: 8,
    ...more,
  };
}

describe("the grid of heads", () => {
  for (const [layers, heads, width] of [
    [12, 12, 900],
    [48, 64, 900],
    [1, 2, 900],
    [12, 12, 330],
    [6, 8, 3000],
  ] as const) {
    it(`has ${layers} × ${heads} pictures that do not overlap on ${width} px`, () => {
      const grid = layGrid(groups(layers, heads), wish({ width }));
      expect(grid.boxes.length).toBe(layers * heads);
      expect(grid.size).toBeGreaterThanOrEqual(16);
      const places = new Set(grid.boxes.map(({ x, y }) => `${x} ${y}`));
      expect(places.size).toBe(layers * heads);
      expect(grid.step[0]).toBeGreaterThan(grid.size);
      expect(grid.step[1]).toBeGreaterThan(grid.size);
      if (heads <= 12) expect(grid.width).toBeLessThanOrEqual(width);
    });
  }

  it("takes the width it gets for 12 × 12 heads, and grows a few heads only as far as all are in view", () => {
    expect(layGrid(groups(12, 12), wish()).size).toBe(64);
    expect(layGrid(groups(12, 12), wish({ width: 760 })).width).toBeGreaterThan(740);
    const few = layGrid(groups(3, 4), wish());
    expect(few.size).toBeGreaterThan(100);
    expect(few.height).toBeLessThanOrEqual(700);
  });

  it("keeps the pixels of larger pictures whole", () => {
    expect(layGrid(groups(1, 8), wish({ pixels: 64 })).size % 64).toBe(0);
  });

  it("ranks by value either way, with the undefined last, and leaves out what the filter stops", () => {
    const values = [3, null, 7, 1];
    const some = wish({ numberOf: (_, head) => values[head]!, order: "high" });
    const names = (more: Partial<GridOptions>): string[] =>
      layGrid(groups(1, 4), { ...some, ...more }).boxes.map((box) => labelOf(box.map, box.head));
    expect(names({})).toEqual(["L0·H2", "L0·H0", "L0·H3", "L0·H1"]);
    expect(names({ order: "low" })).toEqual(["L0·H3", "L0·H0", "L0·H2", "L0·H1"]);
    expect(names({ keeps: (value) => value !== null && value > 2 })).toEqual(["L0·H2", "L0·H0"]);
  });

  it("dims in layers what the filter stops, so that places stay", () => {
    const grid = layGrid(groups(1, 4), wish({ keeps: (value) => value === 2 }));
    expect(grid.boxes.map((box) => box.kept)).toEqual([false, false, true, false]);
  });

  it("finds the picture under the pointer", () => {
    const grid = layGrid(groups(2, 3), wish());
    const box = grid.boxes[4]!;
    expect(boxAt(grid, box.x + 3, box.y + 3)).toBe(box);
    expect(boxAt(grid, 2, 2)).toBeNull();
  });

  it("goes with arrow keys, across groups too", () => {
    const two = [...groups(1, 3), { title: "more", maps: [map(5, 0, 2)] }];
    const grid = layGrid(two, wish());
    const at = (place: number, key: string): number =>
      grid.boxes.indexOf(neighbour(grid, grid.boxes[place]!, key));
    expect(at(0, "ArrowRight")).toBe(1);
    expect(at(0, "ArrowLeft")).toBe(0);
    expect(at(2, "ArrowDown")).toBe(4); // the nearest of a shorter row
    expect(at(4, "ArrowUp")).toBe(1);
    expect([at(1, "Home"), at(1, "End")]).toEqual([0, 4]);
  });
});

describe("the overview's options", () => {
  const read = (texts: Record<string, string>) => readOptions("overview", options, texts);
  const filter = (text: string) => filterOf(read({ "overview.keep": text }));

  it("have sensible values without any words", () => {
    const metrics = [{ name: "distance" }, { name: "entropy" }] as MetricDescription[];
    expect(usualMetric(metrics)).toBe("entropy");
    const usual = read({});
    expect(usual).toEqual({
      metric: null,
      order: "layer",
      pool: "mean",
      colours: "own",
      way: "at_least",
      keep: null,
    });
    expect(read({ "overview.order": "sideways", "overview.keep": "at_most_x" })).toEqual(usual);
    expect(filterOf(read({ "overview.way": "at_most" }))).toEqual({ way: "at_most", bound: null });
  });

  it("read a filter", () => {
    const kept = filter("at_most_-1.5e-3");
    expect(kept).toEqual({ way: "at_most", bound: -0.0015 });
    expect(options.keep.write(kept)).toBe("at_most_-0.0015");
    expect([passes(-2, kept), passes(0, kept), passes(null, kept), passes(-0.0015, kept)]).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect(passes(null, filter(""))).toBe(true);
  });
});
