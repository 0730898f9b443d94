import { describe, expect, it } from "vitest";
import { UNTURNED } from "../core/maths/turn";
import { inks } from "./paper";
import { placeLabels, pointAt, type ScatterLook, toPaper, toUnits, WHOLE, writeScatter } from "./scatter";

const LOOK: ScatterLook = {
  width: 400,
  height: 300,
  inks: inks("light"),
  theme: "light",
  camera: WHOLE,
  focus: 1,
  hovered: null,
  turn: UNTURNED,
  axes: ["PC1", "PC2"],
  label: (point) => `token ${point}`,
};

describe("toPaper", () => {
  it("keeps proportions, puts zero in the middle and up above", () => {
    const places = toPaper(Float64Array.of(0, 0, 1, 0, 0, 1), LOOK);
    expect([...places.slice(0, 2)]).toEqual([200, 150]);
    expect(places[2]! - 200).toBeCloseTo(150 - places[5]!, 4);
    expect(places[5]).toBeLessThan(150);
  });
});

describe("placeLabels", () => {
  it("lets no two labels overlap, and serves the first first", () => {
    const places = Float32Array.from({ length: 600 }, (_, at) => 150 + 40 * Math.sin(at * 12.9898));
    const placed = placeLabels(
      places,
      Array.from({ length: 300 }, (_, at) => at),
      () => 40,
      LOOK,
      400,
    );
    expect(placed[0]?.point).toBe(0);
    expect(placed.length).toBeGreaterThan(5);
    const boxes = placed.map(({ x, y, anchor }) => {
      const left = anchor === "start" ? x : anchor === "end" ? x - 40 : x - 20;
      return [left, y - 9, left + 40, y + 3] as const;
    });
    for (const [at, one] of boxes.entries()) {
      for (const other of boxes.slice(at + 1)) {
        expect(one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]).toBe(false);
      }
    }
  });
});

describe("placeLabels with names", () => {
  it("says equal words that stand close together once", () => {
    const places = Float32Array.of(100, 100, 110, 100, 300, 100);
    const placed = placeLabels(
      places,
      [0, 1, 2],
      () => 20,
      LOOK,
      400,
      () => "the",
    );
    expect(placed.map(({ point }) => point)).toEqual([0, 2]);
  });
});

describe("pointAt", () => {
  it("finds the nearest within reach", () => {
    const places = Float32Array.of(10, 10, 20, 10);
    expect(pointAt(places, 14, 10)).toBe(0);
    expect(pointAt(places, 17, 12)).toBe(1);
    expect(pointAt(places, 200, 200)).toBeNull();
  });
});

describe("writeScatter", () => {
  it("draws every point, every label once, the axes and the focus", () => {
    const points = Float64Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? at : -at));
    const text = writeScatter(toUnits(points), LOOK);
    expect(text.match(/<circle/g)?.length).toBe(6);
    for (let point = 0; point < 5; point++) expect(text.split(`>token ${point}<`).length).toBe(2);
    expect(text).toContain("PC1");
    expect(text).toContain(`stroke="${inks("light").accent}"`);
  });
});
