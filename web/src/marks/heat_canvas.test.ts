import { describe, expect, it } from "vitest";
import {
  byteAt,
  byteOf,
  coarsen,
  fixedRoot,
  HATCH,
  hatchPhase,
  indexAxis,
  NOTHING,
  placeOf,
  rowPeaks,
  type Scene,
  type WeightTile,
  weightOf,
} from "../core/heat";
import { sequential } from "./colours";
import { packColour, paint } from "./heat_canvas";

function weightTile(rows: readonly (readonly number[])[], more: Partial<WeightTile> = {}): WeightTile {
  const bytes = Uint8Array.from(rows.flat());
  const at = {
    width: rows[0]!.length,
    height: rows.length,
    level: 0,
    row: 0,
    column: 0,
    maximum: 1,
    zero: 0 as const,
  };
  return { ...at, ...more, bytes };
}

function scene(shown: WeightTile, more: Partial<Scene> = {}): Scene {
  const extent = { queries: shown.height << shown.level, keys: shown.width << shown.level };
  return {
    width: 8,
    height: 8,
    camera: { key: 0, query: 0, wide: 1, high: 1 },
    extent,
    placements: [{ tile: shown, queries: [0, extent.queries], keys: [0, extent.keys] }],
    top: 1,
    unit: 1,
    mask: { causal: null, rows: null, left: null },
    table: sequential("light"),
    hatch: [
      [250, 0, 250],
      [0, 250, 0],
    ],
    ...more,
  };
}

function at(pixels: Uint8ClampedArray, width: number, x: number, y: number): number[] {
  return [...pixels.subarray(4 * (y * width + x), 4 * (y * width + x) + 4)];
}

const colour = (place: number): number[] => [...sequential("light").subarray(3 * place, 3 * place + 3), 255];

describe("places in the colour table", () => {
  it("are the bytes themselves from 0 to 1", () => {
    const one = fixedRoot(1);
    for (let byte = 0; byte < 256; byte++) expect(placeOf(byte, one, one)).toBe(byte);
  });

  it("follow the root of the weight's share of the top, and end at 255", () => {
    for (const maximum of [1, 0.3, 1e-4]) {
      for (const top of [1, 0.25, 1e-5]) {
        for (const byte of [1, 7, 100, 254, 255]) {
          const weight = maximum * (byte / 255) ** 2;
          const wanted = Math.max(1, Math.min(255, Math.round(255 * Math.sqrt(weight / top))));
          expect(Math.abs(placeOf(byte, fixedRoot(maximum), fixedRoot(top)) - wanted)).toBeLessThanOrEqual(1);
        }
      }
    }
  });

  it("are rounded, halves upwards", () => {
    const places = [1, 2, 3, 4, 5].map((byte) => placeOf(byte, fixedRoot(0.25), fixedRoot(1)));
    expect(places).toEqual([1, 1, 2, 2, 3]);
  });

  it("keep nothing apart from little", () => {
    expect(placeOf(0, fixedRoot(1), fixedRoot(1e-9))).toBe(0);
    expect(placeOf(1, fixedRoot(1e-9), fixedRoot(1))).toBe(1);
  });

  it("need no more than 32 bits", () => {
    expect(2 * 255 * fixedRoot(1) + fixedRoot(1)).toBeLessThan(2 ** 31);
  });
});

describe("the cell under a pixel", () => {
  it("is exact at 100,000 tokens", () => {
    const index = indexAxis(1000, 99_990.25, 100, 100_000);
    expect(index[0]).toBe(99_990);
    expect(index[700]).toBe(99_997);
    expect(index[990]).toBe(NOTHING); // behind the last cell
  });

  it("leaves a line between large cells only", () => {
    expect([...indexAxis(6, 0, 2, 3)]).toEqual([0, 0, 1, 1, 2, 2]);
    const large = indexAxis(40, 0, 20, 2);
    expect(large[18]).toBe(0);
    expect(large[19]).toBe(NOTHING);
    expect(large[20]).toBe(1);
  });
});

describe("painting", () => {
  it("puts every cell's colour at its place", () => {
    const pixels = paint(
      scene(
        weightTile([
          [0, 255],
          [10, 90],
        ]),
        { camera: { key: 0, query: 0, wide: 4, high: 4 } },
      ),
    );
    expect(at(pixels, 8, 1, 1)).toEqual(colour(0));
    expect(at(pixels, 8, 6, 1)).toEqual(colour(255));
    expect(at(pixels, 8, 3, 7)).toEqual(colour(10));
    expect(at(pixels, 8, 4, 4)).toEqual(colour(90));
  });

  it("leaves what is outside transparent", () => {
    const pixels = paint(scene(weightTile([[50]]), { camera: { key: -2, query: 0, wide: 1, high: 1 } }));
    expect(at(pixels, 8, 1, 0)[3]).toBe(0);
    expect(at(pixels, 8, 2, 0)).toEqual(colour(50));
    expect(at(pixels, 8, 3, 0)[3]).toBe(0);
  });

  it("hatches masked cells, not zeros, and never hides a weight", () => {
    const shown = weightTile([
      [9, 0, 0],
      [0, 9, 4],
      [9, 9, 9],
    ]);
    const pixels = paint(scene(shown, { mask: { causal: 0, rows: null, left: null } }));
    expect(at(pixels, 8, 1, 0)[1]).toBeOneOf([0, 250]); // key 1 of query 0: hatched
    expect(at(pixels, 8, 0, 1)).toEqual(colour(0)); // a true zero
    expect(at(pixels, 8, 2, 1)).toEqual(colour(4)); // beyond the rule, but there is a weight
    const padded = paint(scene(shown, { mask: { causal: null, rows: Uint8Array.of(0, 1, 0), left: null } }));
    expect(at(padded, 8, 1, 0)).toEqual(colour(0));
    expect(at(padded, 8, 0, 1)[0]).toBeOneOf([0, 250]);
  });

  it("knows that a pixel of several tokens is masked only if all of them are", () => {
    const coarse = weightTile(
      [
        [9, 0],
        [9, 9],
      ],
      { level: 1 },
    );
    const pixels = paint(
      scene(coarse, {
        mask: { causal: 0, rows: null, left: null },
        camera: { key: 0, query: 0, wide: 1, high: 1 },
      }),
    );
    expect(at(pixels, 8, 2, 1)[1]).toBeOneOf([0, 250]); // keys 2, 3 of queries 0, 1
    const seen = paint(scene(coarse, { mask: { causal: 1, rows: null, left: null } }));
    expect(at(seen, 8, 2, 0)).toEqual(colour(0)); // query 1, in the same pixel, may see key 2
  });

  it("scales each row by its own top", () => {
    const shown = weightTile([
      [100, 50],
      [20, 10],
    ]);
    const top = Float32Array.of(weightOf(shown, 100), weightOf(shown, 20));
    const pixels = paint(scene(shown, { top }));
    expect(at(pixels, 8, 0, 0)).toEqual(colour(255));
    expect(at(pixels, 8, 0, 1)).toEqual(colour(255));
    expect(at(pixels, 8, 1, 0)).toEqual(at(pixels, 8, 1, 1)); // half the root of the top in both rows
  });

  it("lets a parent stand in for a part of the map", () => {
    const parent = weightTile([[200]], { level: 2 });
    const child = weightTile(
      [
        [60, 60],
        [60, 60],
      ],
      { row: 0, column: 2 },
    );
    const both = scene(parent, {
      placements: [
        { tile: parent, queries: [0, 4], keys: [0, 2] },
        { tile: child, queries: [0, 2], keys: [2, 4] },
      ],
    });
    const pixels = paint(both);
    expect(at(pixels, 8, 1, 3)).toEqual(colour(200));
    expect(at(pixels, 8, 2, 1)).toEqual(colour(60));
    expect(at(pixels, 8, 2, 3)[3]).toBe(0); // nobody shows this part
  });
});

describe("tiles", () => {
  it("give means of weights, not of bytes, and count partial pixels rightly", () => {
    const fine = weightTile([
      [255, 0, 100],
      [0, 0, 100],
      [30, 30, 7],
    ]);
    const coarse = coarsen(fine, "mean");
    expect([coarse.width, coarse.height, coarse.level]).toEqual([2, 2, 1]);
    expect(weightOf(coarse, coarse.bytes[0]!)).toBeCloseTo(0.25, 2);
    expect(coarse.bytes[1]).toBe(100); // two cells of the same weight
    expect(coarse.bytes[3]).toBe(7); // one cell
    expect(coarsen(fine, "max").bytes[0]).toBe(255);
  });

  it("have peaks by row, with columns left out", () => {
    const shown = weightTile([
      [200, 3],
      [1, 2],
    ]);
    expect([...rowPeaks(shown)]).toEqual([200, 2]);
    expect([...rowPeaks(shown, (column) => column === 0)]).toEqual([3, 2]);
  });

  it("tell the byte of a cell", () => {
    const tile = weightTile(
      [
        [1, 2],
        [3, 4],
      ],
      { level: 3, row: 10, column: 20 },
    );
    expect(byteAt(tile, 8 * 11 + 5, 8 * 20)).toBe(3);
    expect(byteAt(tile, 0, 0)).toBeNull();
  });

  it("make the server's bytes", () => {
    expect([byteOf(0, 1), byteOf(1e-12, 1), byteOf(0.25, 1), byteOf(2, 1)]).toEqual([0, 1, 128, 255]);
  });
});

/** What each pixel shows, one by one, straight from the rules: 0 nothing, otherwise a packed colour. */
function pixelByPixel(drawn: Scene): Uint32Array {
  const words = new Uint32Array(drawn.width * drawn.height);
  const rows = indexAxis(drawn.height, drawn.camera.query, drawn.camera.high, drawn.extent.queries);
  const columns = indexAxis(drawn.width, drawn.camera.key, drawn.camera.wide, drawn.extent.keys);
  const phase = hatchPhase(drawn);
  for (const { tile, queries, keys } of drawn.placements) {
    for (const [y, query] of rows.entries()) {
      for (const [x, key] of columns.entries()) {
        if (query === NOTHING || query < queries[0] || query >= queries[1]) continue;
        if (key === NOTHING || key < keys[0] || key >= keys[1]) continue;
        const [down, right] = [query >> tile.level, key >> tile.level];
        const byte = tile.bytes[(down - tile.row) * tile.width + right - tile.column]!;
        const top = typeof drawn.top === "number" ? drawn.top : drawn.top[query]!;
        const place = placeOf(byte, fixedRoot(tile.maximum), fixedRoot(top), tile.zero);
        const { causal, rows: hidden, left } = drawn.mask;
        const lastQuery = (down << tile.level) + (1 << tile.level) - 1;
        const unseen = hidden?.[query] || (causal !== null && right << tile.level > lastQuery + causal);
        const slant = byte === tile.zero && unseen ? x + y : left?.[key] ? x + HATCH - (y % HATCH) : null;
        const shown = drawn.table.subarray(3 * place, 3 * place + 3);
        words[y * drawn.width + x] = packColour(
          slant === null ? shown : drawn.hatch[(slant + phase) % HATCH === 0 ? 1 : 0],
        );
      }
    }
  }
  return words;
}

it("paints random scenes as the rules say, pixel by pixel", () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  for (let round = 0; round < 200; round++) {
    const level = random(3);
    const [cellsDown, cellsRight] = [2 + random(6), 2 + random(6)];
    const extent = { queries: cellsDown << level, keys: cellsRight << level };
    const cut = 1 + random(cellsRight - 1); // two tiles side by side
    const zero = random(2) === 0 ? 0 : 128;
    const tile = (column: number, width: number): WeightTile =>
      weightTile(
        Array.from({ length: cellsDown }, () =>
          Array.from({ length: width }, () => (random(2) === 0 ? zero : random(256))),
        ),
        { level, column, maximum: (1 + random(9)) / 10, zero: zero as 0 },
      );
    const flags = (count: number): boolean[] | null =>
      random(2) === 0 ? null : Array.from({ length: count }, () => random(3) === 0);
    const drawn = scene(tile(0, 1), {
      width: 1 + random(40),
      height: 1 + random(40),
      camera: {
        key: random(20) / 10 - 0.5,
        query: random(20) / 10 - 0.5,
        wide: (1 + random(120)) / 10,
        high: (1 + random(120)) / 10,
      },
      extent,
      placements: [
        { tile: tile(0, cut), queries: [0, extent.queries], keys: [0, cut << level] },
        {
          tile: tile(cut, cellsRight - cut),
          queries: [0, extent.queries],
          keys: [cut << level, extent.keys],
        },
      ],
      top: random(2) === 0 ? 0.5 : Float32Array.from({ length: extent.queries }, () => (1 + random(9)) / 10),
      mask: {
        causal: random(2) === 0 ? null : random(5) - 2,
        rows: flags(extent.queries),
        left: flags(extent.keys),
      } as Scene["mask"],
    });
    expect(new Uint32Array(paint(drawn).buffer)).toEqual(pixelByPixel(drawn));
  }
});
