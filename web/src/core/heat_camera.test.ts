import { describe, expect, it } from "vitest";

import { clamp, isFitted, readCamera, reveal, wholeMap, writeCamera, zoomAbout } from "./heat_camera";

const SIZE = { width: 600, height: 400 };
const LONG = { queries: 100_000, keys: 100_000 };

describe("the camera", () => {
  it("shows the whole map at first, and small ones not too large", () => {
    expect(wholeMap({ queries: 200, keys: 300 }, SIZE)).toEqual({ key: 0, query: 0, scale: 2 });
    expect(wholeMap({ queries: 1, keys: 1 }, SIZE).scale).toBe(64);
  });

  it("keeps the cell under the pointer when zooming", () => {
    let camera = wholeMap(LONG, SIZE);
    for (const factor of [3, 7, 20, 0.5, 11]) {
      const before = [camera.key + 250 / camera.scale, camera.query + 130 / camera.scale];
      camera = zoomAbout(camera, 250, 130, factor, LONG, SIZE);
      expect(camera.key + 250 / camera.scale).toBeCloseTo(before[0]!, 6);
      expect(camera.query + 130 / camera.scale).toBeCloseTo(before[1]!, 6);
    }
  });

  it("never leaves the map", () => {
    const camera = clamp({ key: -50, query: 1e9, scale: 1 }, LONG, SIZE);
    expect(camera).toEqual({ key: 0, query: 100_000 - 400, scale: 1 });
    expect(zoomAbout(camera, 0, 0, 1e-9, LONG, SIZE)).toEqual(wholeMap(LONG, SIZE));
    expect(zoomAbout(camera, 0, 0, 1e9, LONG, SIZE).scale).toBe(96);
  });

  it("goes where the crosshair goes, and stays where it is seen", () => {
    const camera = { key: 100, query: 100, scale: 10 };
    expect(reveal(camera, { query: 110, key: 120 }, LONG, SIZE)).toEqual(camera);
    expect(reveal(camera, { query: 95, key: 180 }, LONG, SIZE)).toMatchObject({ query: 93, key: 123 });
    expect(reveal(camera, { query: null, key: 50 }, LONG, SIZE)).toMatchObject({ query: 100, key: 48 });
    expect(reveal(camera, { query: null, key: null }, LONG, SIZE)).toEqual(camera);
  });

  it("is written into the URL and read again, on another screen too", () => {
    const camera = { key: 1234.5, query: 77, scale: 3 };
    const text = writeCamera(camera, SIZE);
    const again = readCamera(text, LONG, SIZE)!;
    expect(again.key).toBeCloseTo(camera.key, 2);
    expect(again.query).toBeCloseTo(camera.query, 2);
    expect(again.scale).toBeCloseTo(camera.scale, 4);
    const half = readCamera(text, LONG, { width: 300, height: 200 })!;
    expect(half.scale).toBeCloseTo(1.5, 4);
    expect(half.key).toBeCloseTo(camera.key, 2);
  });

  it("ignores words that are none", () => {
    for (const words of [undefined, "", "1_2", "a_b_c", "1_2_-3", "NaN_0_1"])
      expect(readCamera(words, LONG, SIZE)).toBeNull();
  });

  it("knows whether all is seen", () => {
    expect(isFitted(wholeMap(LONG, SIZE), LONG, SIZE)).toBe(true);
    expect(isFitted({ key: 0, query: 0, scale: 1 }, LONG, SIZE)).toBe(false);
  });
});
