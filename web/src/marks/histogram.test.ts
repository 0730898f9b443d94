import { describe, expect, it } from "vitest";
import { binAt, drawHistogram, extent, gather } from "./histogram";
import { inks } from "./paper";

const LOOK = { width: 300, height: 160, inks: inks("light"), log: false };

describe("gather", () => {
  it("counts every finite value once, the largest too", () => {
    const found = gather([0, 0.5, 1, 1, Number.NaN, -Infinity], 2);
    expect(found.edges).toEqual([0, 0.5, 1]);
    expect(found.counts).toEqual([1, 3]);
    expect(found.left_out).toBe(2);
    expect(found.mean).toBeCloseTo(0.625, 12);
    expect(found.deviation).toBeCloseTo(Math.sqrt((0.625 ** 2 + 0.125 ** 2 + 2 * 0.375 ** 2) / 4), 12);
  });
  it("copes with equal values and with none", () => {
    expect(gather([2, 2], 4).counts.reduce((sum, each) => sum + each)).toBe(2);
    expect(gather([Number.NaN], 4).count).toBe(0);
  });
});

describe("drawHistogram", () => {
  it("draws the tallest bar to the top and leaves empty bins out", () => {
    const group = drawHistogram(gather([0, 0, 0, 1, 3, 4], 4), LOOK); // counts 3, 1, 0, 2
    const bars = group.querySelector(".bars")?.getAttribute("d") ?? "";
    expect(bars.match(/M/g)?.length).toBe(3);
    const tops = [...bars.matchAll(/M\S+ \d+V([\d.]+)h/g)].map((match) => Number(match[1]));
    const heights = tops.map((top) => 126 - top);
    expect(tops[0]).toBe(8);
    expect(heights[1]! / heights[0]!).toBeCloseTo(1 / 3, 2);
    expect(heights[2]! / heights[0]!).toBeCloseTo(2 / 3, 2);
  });
  it("finds the bin under the pointer", () => {
    const distribution = gather([0, 0, 0, 1, 3, 4], 4);
    expect(binAt(distribution, LOOK, 45)?.count).toBe(3);
    expect(binAt(distribution, LOOK, 291)?.count).toBe(2);
    expect(binAt(distribution, LOOK, 10)).toBeNull();
  });
  it("shares one domain between before and after", () => {
    expect(extent([gather([0, 1], 2), gather([-3, 0.5], 2)])).toEqual([-3, 1]);
  });
});
