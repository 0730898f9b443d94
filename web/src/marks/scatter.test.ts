import { describe, expect, it } from "vitest";
import { UNTURNED } from "../core/maths/turn";
import { inks } from "./paper";
import {
  fitOf,
  placeLabels,
  pointAt,
  type ScatterLook,
  toPaper,
  toUnits,
  WHOLE,
  writeScatter,
} from "./scatter";

const LOOK: ScatterLook = {
  width: 400,
  height: 300,
  inks: inks("light"),
  theme: "light",
  camera: WHOLE,
  fit: fitOf(Float64Array.of(1, 0, 0, -1), false),
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

describe("fitOf", () => {
  const points = Float64Array.from(
    { length: 40 },
    (_, at) => (at % 2 ? 0.2 : 3) * Math.sin(7 * at) + (at % 2),
  );

  it("fills a panel of any proportions, edge by edge", () => {
    for (const [width, height] of [
      [480, 160], // a panel of the canvas at 1440 × 900
      [300, 240], // and on a telephone
    ] as const) {
      const look = { ...LOOK, width, height, fit: fitOf(points, true) };
      const places = toPaper(toUnits(points, look.fit), look);
      const span = (axis: number) => {
        const values = [...places].filter((_, at) => at % 2 === axis);
        return Math.max(...values) - Math.min(...values);
      };
      const blank = 1 - (span(0) * span(1)) / (width * height);
      expect(blank).toBeGreaterThan(0.2); // labels have room
      expect(blank).toBeLessThan(0.45);
    }
  });

  it("draws axes through zero, where they point on the paper", () => {
    const fit = fitOf(Float64Array.of(0, 0, 4, 2), true);
    const svg = writeScatter(toUnits(Float64Array.of(0, 0, 4, 2), fit), { ...LOOK, fit });
    const [x, y] = toPaper(toUnits(Float64Array.of(0, 0), fit), { ...LOOK, fit });
    expect(svg).toContain(`y1="${y}" x2="${400 + x!}" y2="${y}"`); // zero is the lower left point
  });

  it("keeps proportions about zero otherwise", () => {
    expect(fitOf(Float64Array.of(0, 1, -4, 2), false)).toMatchObject({ x: 0, y: 0, wide: 4, high: 4 });
  });
});

describe("placeLabels", () => {
  it("keeps clear of other points where it can", () => {
    const places = Float32Array.of(100, 100, 120, 100); // the second lies where the first label would
    const [first] = placeLabels(places, [0, 1], () => 30, LOOK, 400);
    expect(first).toMatchObject({ point: 0, anchor: "end" });
  });

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
    const text = writeScatter(toUnits(points, fitOf(points, false)), LOOK);
    expect(text.match(/<circle/g)?.length).toBe(6);
    for (let point = 0; point < 5; point++) expect(text.split(`>token ${point}<`).length).toBe(2);
    expect(text).toContain("PC1");
    expect(text).toContain(`stroke="${inks("light").accent}"`);
  });
});
