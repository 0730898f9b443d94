/**
 * The data behind a heat map: one texture for short maps, tiles for long ones, the thumbnail where there is nothing finer.
 *
 * In:   a recording, a map, which head or average, mean or maximum.
 * Out:  tiles for what is looked at, the weight of any cell (about, at once; exactly, a moment later), scales and masks.
 */

import { asFloats, type Tensor, tensor } from "../api/frames";
import type { MapDescription } from "../api/types";
import {
  byteAt,
  bytesOf,
  type Camera,
  coarsen,
  type Extent,
  type Mask,
  type Placement,
  quantise,
  rowPeaks,
  type Top,
  type WeightTile,
  weightOf,
} from "../core/heat";
import type { Head } from "../core/maps";
import type { RecordingSource } from "../core/source";
import { type Address, cover, levelFor, SIZE, type TileListener, Tiles } from "./tiles";

export type How = "mean" | "max";
export type Scale = "absolute" | "map" | "row";

const DENSE = 1024; // tokens: maps up to here come whole
const MASKS = 2048; // queries up to which masked rows are looked up

export interface Look {
  readonly camera: Camera; // scale in device pixels
  readonly width: number;
  readonly height: number;
  readonly near: { query: number; key: number };
}

export interface TileSource {
  /** What to draw now; asks for what is missing. */
  placements(look: Look): readonly Placement[];
  /** How many tokens a pixel of the last look covers, as a power of two. */
  readonly level: number;
  /** Tiles on their way. */
  readonly missing: number;
  /** Why this is only a coarse picture, if it is. */
  readonly coarse: "average" | "statistics" | null;
  dispose(): void;
}

/** How a map can be shown. */
export function wayOf(map: MapDescription, head: Head): "dense" | "tiles" | "coarse" {
  if (!map.has_weights) return "coarse";
  if (Math.max(map.queries, map.keys) <= DENSE) return "dense";
  return typeof head === "number" ? "tiles" : "coarse";
}

export async function openTiles(
  source: RecordingSource,
  map: MapDescription,
  head: Head,
  how: How,
  heard: TileListener,
): Promise<TileSource> {
  const extent: Extent = { queries: map.queries, keys: map.keys };
  const everywhere = { queries: [0, map.queries], keys: [0, map.keys] } as const;
  const way = wayOf(map, head);
  let level = 0;
  if (way === "dense") {
    const tiles = [await readWhole(source, map, head)]; // by level
    const levels = Math.ceil(Math.log2(Math.max(2, map.queries, map.keys))) + 1;
    return {
      get level() {
        return level;
      },
      missing: 0,
      coarse: null,
      placements({ camera }) {
        level = levelFor(Math.min(camera.wide, camera.high), levels);
        while (tiles.length <= level) tiles.push(coarsen(tiles.at(-1)!, how));
        return [{ tile: tiles[level]!, ...everywhere }];
      },
      dispose() {},
    };
  }
  const root = await readThumbnail(source, map, head, how);
  if (way === "coarse")
    return {
      level: root.level,
      missing: 0,
      coarse: map.has_weights ? "average" : "statistics",
      placements: () => [{ tile: root, ...everywhere }],
      dispose() {},
    };
  const levels = Math.max(1, map.levels);
  const fetch = async (at: Address, signal: AbortSignal): Promise<WeightTile> => {
    const { row, column } = at;
    const frame = await source.tile(map.place, head as number, at.level, row, column, how, "uint8", signal);
    return tileOf(tensor(frame, "tile"), at.level, row * SIZE, column * SIZE);
  };
  const tiles = new Tiles(fetch, heard, levels, root);
  return {
    get level() {
      return level;
    },
    get missing() {
      return tiles.missing;
    },
    coarse: null,
    placements(look) {
      level = levelFor(Math.min(look.camera.wide, look.camera.high), levels);
      const addresses = cover(look, extent, level, look.near);
      tiles.want(addresses);
      return tiles.place(addresses, extent);
    },
    dispose: () => tiles.dispose(),
  };
}

async function readWhole(source: RecordingSource, map: MapDescription, head: Head): Promise<WeightTile> {
  const frame =
    head === "model"
      ? await source.average(map.place.stack, map.place.kind)
      : await source.weights(map.place, { head }, "uint8");
  return tileOf(tensor(frame, "weights"), 0, 0, 0);
}

/** The thumbnail of a head, or the average of those of a layer or of all layers alike. */
export async function readThumbnail(
  source: RecordingSource,
  map: MapDescription,
  head: Head,
  how: How,
): Promise<WeightTile> {
  const frame = await source.thumbnails(how);
  const alike =
    head === "model"
      ? source.description.maps.filter(
          (each) =>
            each.place.stack === map.place.stack &&
            each.place.kind === map.place.kind &&
            each.queries === map.queries &&
            each.keys === map.keys,
        )
      : [map];
  const own = tensor(frame, map.place.address);
  const [, height = 0, width = 0] = own.shape;
  const at = { height, width, level: thumbnailLevel(map, height, width), row: 0, column: 0 };
  if (typeof head === "number") {
    const cells = height * width;
    const all = bytesOf(own);
    return { ...at, ...all, bytes: all.bytes.subarray(head * cells, (head + 1) * cells) };
  }
  const mean = new Float32Array(height * width);
  let heads = 0;
  for (const each of alike) {
    const floats = asFloats(tensor(frame, each.place.address));
    heads += each.heads;
    for (let place = 0; place < floats.length; place++) mean[place % mean.length]! += floats[place]!;
  }
  const data = mean.map((sum) => sum / Math.max(1, heads));
  const signed = alike.some(({ content }) => content === "signed");
  return { ...at, ...quantise(data, signed) };
}

/** A thumbnail shows 2**level tokens a pixel. */
export function thumbnailLevel(map: MapDescription, height: number, width: number): number {
  for (let level = 0; level < 31; level++) {
    if (Math.ceil(map.queries / 2 ** level) <= height && Math.ceil(map.keys / 2 ** level) <= width)
      return level;
  }
  return 0;
}

/** A tensor (query, key) as a tile. */
export function tileOf(from: Tensor, level: number, row: number, column: number): WeightTile {
  const [height = 0, width = 0] = from.shape.slice(-2);
  return { width, height, level, row, column, ...bytesOf(from) };
}

/** About the weight of a cell, from what is drawn there. */
export function weightShown(
  placements: readonly Placement[],
  query: number,
  key: number,
): { weight: number; level: number; byte: number } | null {
  for (const { tile, queries, keys } of placements) {
    if (query < queries[0] || query >= queries[1] || key < keys[0] || key >= keys[1]) continue;
    const byte = byteAt(tile, query, key);
    if (byte !== null) return { weight: weightOf(tile, byte), level: tile.level, byte };
  }
  return null;
}

/** Largest absolute values per row of tiles, remembered: what a scale of its own takes as its top. */
export class Peaks {
  private readonly rows = new Map<WeightTile, Uint8Array>();

  /** `left`: keys that do not count. */
  constructor(private readonly left: Uint8Array | null) {}

  top(scale: Scale, placements: readonly Placement[], extent: Extent): Top {
    if (scale === "absolute") return 1;
    if (scale === "map") {
      let most = 0;
      for (const { tile } of placements)
        most = Math.max(most, weightOf(tile, Math.max(tile.zero, ...this.of(tile))));
      return most > 0 ? most : 1;
    }
    const tops = new Float32Array(extent.queries);
    for (const { tile, queries } of placements) {
      const peaks = this.of(tile);
      const weights = Float32Array.from(peaks, (byte) => weightOf(tile, byte));
      for (let query = queries[0]; query < queries[1]; query++) {
        const weight = weights[(query >> tile.level) - tile.row] ?? 0;
        if (weight > tops[query]!) tops[query] = weight;
      }
    }
    for (let query = 0; query < tops.length; query++) if (tops[query] === 0) tops[query] = 1;
    return tops;
  }

  private of(tile: WeightTile): Uint8Array {
    let peaks = this.rows.get(tile);
    if (peaks === undefined) {
      const { left } = this;
      // A pixel of several tokens is skipped when any of them is left out.
      const skip = (column: number): boolean => {
        if (left === null) return false;
        const first = column << tile.level;
        for (let key = first; key < first + (1 << tile.level) && key < left.length; key++)
          if (left[key]) return true;
        return false;
      };
      peaks = rowPeaks(tile, skip);
      this.rows.set(tile, peaks);
      if (this.rows.size > 400) this.rows.delete(this.rows.keys().next().value!);
    }
    return peaks;
  }
}

/** What is masked in a map: by the causal rule, and rows where statistics know of more masked keys. */
export async function readMask(
  source: RecordingSource,
  map: MapDescription,
  head: Head,
): Promise<Pick<Mask, "causal" | "rows">> {
  const causal = causalOf(map);
  if (map.queries > MASKS) return { causal, rows: null };
  const allowed = asFloats(tensor(await source.statistics(map.place), "allowed"));
  const start = (typeof head === "number" ? head : 0) * map.queries;
  const rows = new Uint8Array(map.queries);
  let any = false;
  for (let query = 0; query < map.queries; query++) {
    const expected = causal === null ? map.keys : Math.max(0, Math.min(map.keys, query + causal + 1));
    if ((allowed[start + query] ?? expected) < expected) {
      rows[query] = 1;
      any = true;
    }
  }
  return { causal, rows: any ? rows : null };
}

/** How many keys beyond the query's number are seen under the causal rule; null without one. */
export function causalOf(map: MapDescription): number | null {
  return map.causal && map.place.kind === "self" ? map.query_start - map.key_start : null;
}
