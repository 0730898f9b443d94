import { describe, expect, it } from "vitest";

import type { Frame, Tensor } from "../api/frames";
import type { MapDescription } from "../api/types";
import { weightOf } from "../core/heat";
import type { RecordingSource } from "../core/source";
import { makeMap } from "../testing/recording";
import { Exact } from "./heat_exact";
import {
  causalOf,
  openTiles,
  Peaks,
  readMask,
  readThumbnail,
  thumbnailLevel,
  wayOf,
  weightShown,
} from "./heat_tiles";

function tensor(
  name: string,
  shape: readonly number[],
  data: Tensor["data"],
  more: Partial<Tensor> = {},
): Tensor {
  const bytes = data instanceof Uint8Array;
  return {
    name,
    shape,
    data,
    dtype: bytes ? "uint8" : "float32",
    scale: bytes ? "sqrt" : null,
    maximum: 1,
    ...more,
  };
}

const frame = (...tensors: Tensor[]): Frame => ({
  arrays: new Map(tensors.map((each) => [each.name, each])),
  meta: {},
});

function map(more: Parameters<typeof makeMap>[1] = {}): MapDescription {
  return makeMap(0, { queries: 3, keys: 3, causal: true, ...more });
}

const LOOK = {
  camera: { key: 0, query: 0, wide: 8, high: 8 },
  width: 64,
  height: 64,
  near: { query: 0, key: 0 },
};
const HEARD = { arrived: () => {}, failed: () => {} };

describe("the way a map is shown", () => {
  it("is whole up to 1,024 tokens, then tiles; averages and bare statistics are coarse", () => {
    expect(wayOf(map(), 0)).toBe("dense");
    expect(wayOf(map({ keys: 1024 }), "model")).toBe("dense");
    expect(wayOf(map({ keys: 1025 }), 1)).toBe("tiles");
    expect(wayOf(map({ keys: 1025 }), "mean")).toBe("coarse");
    expect(wayOf(map({ has_weights: false }), 0)).toBe("coarse");
  });
});

describe("tile sources", () => {
  it("read the bytes of a head, and pool them for a far view", async () => {
    const bytes = Uint8Array.of(255, 0, 0, 180, 180, 0, 1, 2, 3);
    const source = {
      weights: async () => frame(tensor("weights", [3, 3], bytes)),
    } as unknown as RecordingSource;
    const tiles = await openTiles(source, map(), 1, "max", HEARD);
    const near = tiles.placements(LOOK);
    expect(weightShown(near, 1, 1)).toMatchObject({ byte: 180, level: 0 });
    expect(weightShown(near, 3, 0)).toBeNull();
    const far = tiles.placements({ ...LOOK, camera: { ...LOOK.camera, wide: 0.5, high: 0.5 } });
    expect(weightShown(far, 2, 2)).toMatchObject({ byte: 3, level: 1 });
    expect(weightShown(far, 0, 0)?.byte).toBe(255);
  });

  it("turn the model's average, floats, into bytes", async () => {
    const floats = Float32Array.of(0.5, 0.125, 0, 0, 0, 0, 0, 0, 0);
    const source = {
      average: async () => frame(tensor("weights", [3, 3], floats)),
    } as unknown as RecordingSource;
    const tiles = await openTiles(source, map(), "model", "mean", HEARD);
    const seen = tiles.placements(LOOK);
    expect(weightShown(seen, 0, 0)?.weight).toBeCloseTo(0.5, 6);
    expect(weightShown(seen, 0, 1)?.weight).toBeCloseTo(0.125, 2);
  });

  it("show averages of long maps from thumbnails", async () => {
    const long = map({ queries: 2048, keys: 2048 });
    const thumbnails = tensor("decoder.self.0", [2, 1, 2], Uint8Array.of(255, 0, 0, 255), { maximum: 0.5 });
    const source = {
      thumbnails: async () => frame(thumbnails),
      description: { maps: [long] },
    } as unknown as RecordingSource;
    const tile = await readThumbnail(source, long, "mean", "mean");
    expect(weightOf(tile, tile.bytes[0]!)).toBeCloseTo(0.25, 6);
    const one = await readThumbnail(source, long, 1, "mean");
    expect([...one.bytes]).toEqual([0, 255]);
    expect((await openTiles(source, long, "mean", "mean", HEARD)).coarse).toBe("average");
  });

  it("know the level of a thumbnail", () => {
    expect(thumbnailLevel(map({ queries: 512, keys: 512 }), 64, 64)).toBe(3);
    expect(thumbnailLevel(map({ queries: 5, keys: 7 }), 5, 7)).toBe(0);
    expect(thumbnailLevel(map({ queries: 100_000, keys: 100_000 }), 49, 49)).toBe(11);
  });
});

describe("scales", () => {
  const bytes = Uint8Array.of(255, 10, 0, 100, 20, 50);
  const tile = { bytes, width: 3, height: 2, level: 0, row: 0, column: 0, maximum: 0.5, zero: 0 as const };
  const placements = [{ tile, queries: [0, 2] as const, keys: [0, 3] as const }];
  const extent = { queries: 2, keys: 3 };

  it("take 1, the map's largest or each row's largest", () => {
    const peaks = new Peaks(null);
    expect(peaks.top("absolute", placements, extent)).toBe(1);
    expect(peaks.top("map", placements, extent)).toBe(0.5);
    const rows = peaks.top("row", placements, extent) as Float32Array;
    expect(rows[0]).toBe(0.5);
    expect(rows[1]).toBeCloseTo(weightOf(tile, 100), 6);
  });

  it("leave keys out", () => {
    const peaks = new Peaks(Uint8Array.of(1, 0, 0));
    expect(peaks.top("map", placements, extent)).toBeCloseTo(weightOf(tile, 50), 9);
  });
});

describe("masks", () => {
  it("come from the causal rule, shifted where a step sees a part", () => {
    expect(causalOf(map())).toBe(0);
    expect(causalOf(map({ query_start: 12 }))).toBe(12);
    expect(causalOf(map({ causal: false }))).toBeNull();
    expect(causalOf(map({ kind: "cross" }))).toBeNull();
  });

  it("come from statistics where rows see fewer keys than the rule allows", async () => {
    const allowed = tensor("allowed", [2, 3], Int32Array.of(1, 2, 3, 1, 1, 3), { dtype: "int32" });
    const source = { statistics: async () => frame(allowed) } as unknown as RecordingSource;
    expect((await readMask(source, map(), 0)).rows).toBeNull();
    expect([...(await readMask(source, map(), 1)).rows!]).toEqual([0, 1, 0]);
  });
});

describe("exact weights", () => {
  it("are fetched a part of a row at a time, and once", async () => {
    const asked: unknown[] = [];
    const weights = async (_: number, where: { keys?: readonly [number, number] }): Promise<Frame> => {
      asked.push(where);
      const [start, stop] = where.keys!;
      const row = Float32Array.from({ length: stop - start }, (_, place) => (start + place) / 4096);
      return frame(tensor("weights", [1, row.length], row));
    };
    const exact = new Exact({ weights } as unknown as RecordingSource, map({ keys: 4000 }), 1, () => {});
    expect(exact.get(7, 2000)).toBeUndefined();
    expect(await exact.fetch(7, 2000)).toBe(2000 / 4096);
    expect(exact.get(7, 1024)).toBe(0.25);
    expect(exact.get(7, 1023)).toBeUndefined();
    await exact.fetch(7, 1500);
    expect(asked).toEqual([{ head: 1, queries: [7, 8], keys: [1024, 2048] }]);
  });
});
