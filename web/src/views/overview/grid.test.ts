import { describe, expect, it } from "vitest";
import type { MapDescription, MetricDescription, ScoreDescription } from "../../api/types";
import { readOptions } from "../../core/options";
import { asBytes } from "../../data/file_cutting";
import type { HeadPictures } from "../../data/thumbnails";
import { invent, makeMap, said, setStage, settle } from "../../testing/recording";
import { boxAt, type GridOptions, type Group, labelOf, layGrid, neighbour } from "./grid";
import { filterOf, options, passes, usualColours, usualMetric } from "./menu";
import { whyNone } from "./numbers";
import { largestOf } from "./thumbnails";
import { view } from "./view";

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

describe("the scale of colours", () => {
  it("of signed values reaches the largest of all heads", () => {
    const picture = (maximum: number, ...bytes: number[]): HeadPictures => ({
      heads: 1,
      height: 1,
      width: bytes.length,
      level: 0,
      bytes: Uint8Array.from(bytes),
      maximum,
      zero: 128,
    });
    expect(largestOf([picture(0.5, 128, 1), picture(2e-9, 255, 128)])).toBe(0.5);
    expect(largestOf([picture(8, 128, 129), picture(2e-9, 255, 128)])).toBeCloseTo(8 / 127 ** 2, 12);
    expect([usualColours(true), usualColours(false)]).toEqual(["shared", "own"]);
  });

  it("is told, and every head can have its own", async () => {
    const maps = [0, 1].map((layer) => makeMap(layer, { layer, heads: 1, content: "signed" }));
    const { source } = invent({ change: { maps } });
    const signed = (address: string, top: number) =>
      asBytes(address, [1, 1, 2], [Float32Array.of(-top, top / 4)], "signed");
    const arrays = maps.map(({ place }, layer) => signed(place.address, 0.5 / 10 ** layer));
    const thumbnails = async () => ({ arrays: new Map(arrays.map((each) => [each.name, each])), meta: {} });
    const { stage, element, selection, failures } = setStage(Object.assign(source, { thumbnails }));
    const mounted = view.mount(stage);
    await settle();
    const hint = () => element.querySelector(".over-side > .over-hint")!.textContent;
    expect(hint()).toContain("one scale, from −0.50 to 0.50");
    const before = selection.get();
    selection.set({ options: { "overview.colours": "own" } });
    mounted.update(selection.get(), before);
    expect(hint()).not.toContain("one scale");
    expect(failures).toEqual([]);
    mounted.unmount();
  });

  it("is not measured where no head has a number, and says why", () => {
    const part = (values: readonly (number | null)[]) => ({ values, undefined: [said("signed")] });
    const score = (...parts: ReturnType<typeof part>[]) => ({ parts }) as unknown as ScoreDescription;
    expect(whyNone(score(part([null, null])), "en")).toBe("signed");
    expect(whyNone(score(part([null]), part([0])), "en")).toBeNull();
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
      colours: null,
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
