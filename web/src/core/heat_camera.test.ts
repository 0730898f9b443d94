import { describe, expect, it } from "vitest";

import { clamp, isFitted, readCamera, reveal, wholeMap, writeCamera, zoomAbout } from "./heat_camera";

const SIZE = { width: 600, height: 400 };
const LONG = { queries: 100_000, keys: 100_000 };

describe("the camera", () => {
  it("shows the whole map at first, and single cells not too large", () => {
    expect(wholeMap({ queries: 200, keys: 300 }, SIZE)).toEqual({ key: 0, query: 0, wide: 2, high: 2 });
    expect(wholeMap({ queries: 1, keys: 1 }, SIZE)).toMatchObject({ wide: 240, high: 120 });
  });

  it("fills the room there is, whatever the length of the text", () => {
    const boxes = [
      { width: 740, height: 560 }, // of a window of 1440 × 900
      { width: 260, height: 300 }, // of a telephone
    ];
    for (const { width, height } of boxes) {
      for (const count of [5, 12, 64, 512, 8192]) {
        const { wide, high } = wholeMap({ queries: count, keys: count }, { width, height });
        const blank = 1 - (wide * count * high * count) / (width * height);
        expect(blank).toBeGreaterThanOrEqual(-1e-9);
        expect(blank).toBeLessThan(0.05);
        expect(Math.max(wide / high, high / wide)).toBeLessThanOrEqual(2.5);
      }
    }
    // A row of a generation step, or a long text against a short one: never thinner than 1 : 2.5.
    expect(wholeMap({ queries: 1, keys: 60 }, SIZE)).toMatchObject({ wide: 10, high: 25 });
    expect(wholeMap({ queries: 300, keys: 3 }, SIZE).wide).toBeCloseTo((2.5 * 400) / 300);
  });

  it("fills a low and wide box that allows cells to be long", () => {
    const box = { width: 400, height: 115, stretch: 8 }; // a panel of the canvas at 1440 × 900
    for (const [queries, keys] of [
      [14, 12],
      [9, 9],
      [28, 28],
    ] as const) {
      const { wide, high } = wholeMap({ queries, keys }, box);
      expect(1 - (wide * keys * high * queries) / (box.width * box.height)).toBeLessThan(0.05);
    }
  });

  it("keeps the cell under the pointer when zooming", () => {
    let camera = wholeMap(LONG, SIZE);
    for (const factor of [3, 7, 20, 0.5, 11]) {
      const before = [camera.key + 250 / camera.wide, camera.query + 130 / camera.high];
      camera = zoomAbout(camera, 250, 130, factor, LONG, SIZE);
      expect(camera.key + 250 / camera.wide).toBeCloseTo(before[0]!, 6);
      expect(camera.query + 130 / camera.high).toBeCloseTo(before[1]!, 6);
    }
  });

  it("never leaves the map", () => {
    const camera = clamp({ key: -50, query: 1e9, wide: 1.5, high: 1 }, LONG, SIZE);
    expect(camera).toEqual({ key: 0, query: 100_000 - 400, wide: 1.5, high: 1 });
    expect(zoomAbout(camera, 0, 0, 1e-9, LONG, SIZE)).toEqual(wholeMap(LONG, SIZE));
    expect(zoomAbout(camera, 0, 0, 1e9, LONG, SIZE)).toMatchObject({ wide: 144, high: 96 });
  });

  it("goes where the crosshair goes, and stays where it is seen", () => {
    const camera = { key: 100, query: 100, wide: 15, high: 10 };
    expect(reveal(camera, { query: 110, key: 120 }, LONG, SIZE)).toEqual(camera);
    expect(reveal(camera, { query: 95, key: 180 }, LONG, SIZE)).toMatchObject({ query: 93, key: 143 });
    expect(reveal(camera, { query: null, key: 50 }, LONG, SIZE)).toMatchObject({ query: 100, key: 48 });
    expect(reveal(camera, { query: null, key: null }, LONG, SIZE)).toEqual(camera);
  });

  it("is written into the URL and read again, on another screen too", () => {
    const camera = { key: 1234.5, query: 77, wide: 4.5, high: 3 };
    const text = writeCamera(camera, SIZE);
    const again = readCamera(text, LONG, SIZE)!;
    expect(again.key).toBeCloseTo(camera.key, 2);
    expect(again.query).toBeCloseTo(camera.query, 2);
    expect(again.wide).toBeCloseTo(camera.wide, 4);
    expect(again.high).toBeCloseTo(camera.high, 4);
    const half = readCamera(text, LONG, { width: 300, height: 200 })!;
    expect(half.high).toBeCloseTo(1.5, 4);
    expect(half.key).toBeCloseTo(camera.key, 2);
  });

  it("ignores words that are none", () => {
    for (const words of [undefined, "", "1_2", "a_b_c", "1_2_-3", "NaN_0_1"])
      expect(readCamera(words, LONG, SIZE)).toBeNull();
  });

  it("knows whether all is seen", () => {
    expect(isFitted(wholeMap(LONG, SIZE), LONG, SIZE)).toBe(true);
    expect(isFitted({ key: 0, query: 0, wide: 1.5, high: 1 }, LONG, SIZE)).toBe(false);
  });
});
