/**
 * The data behind a heat map: one texture for short maps, tiles for long ones, the thumbnail where there is nothing finer.
 *
 * In:   a recording, a map, which head or average, mean or maximum.
 * Out:  tiles for what is looked at, the weight of any cell (about, at once; exactly, a moment later), scales and masks.
 */

import { asFloats, type Tensor, tensor, zeroByte } from "../api/frames";
import type { MapDescription } from "../api/types";
import {
  byteAt,
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
import { type Address, cover, levelFor, Tiles } from "./tiles";

export type How = "mean" | "max";
export type Scale = "absolute" | "map" | "row";

export const DENSE = 1024; // tokens: maps up to here come whole
const MASKS = 2048; // queries up to which masked rows are looked up

export interface Look {
  readonly camera: Camera; // scale in device pixels
  readonly width: number;
  readonly height: number;
  readonly near: { query: number; key: number };
}

export interface Supply {
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

export interface Heard {
  arrived(): void;
  failed(error: unknown): void;
}

/** How a map can be shown. */
export function wayOf(map: MapDescription, head: Head): "dense" | "tiles" | "coarse" {
  if (!map.has_weights) return "coarse";
  if (Math.max(map.queries, map.keys) <= DENSE) return "dense";
  return typeof head === "number" ? "tiles" : "coarse";
}

export async function openSupply(
  source: RecordingSource,
  map: MapDescription,
  head: Head,
  how: How,
  heard: Heard,
): Promise<Supply> {
  const extent: Extent = { queries: map.queries, keys: map.keys };
  const way = wayOf(map, head);
  if (way === "dense") return new Dense(await readWhole(source, map, head), extent, how);
  const root = await readThumbnail(source, map, head, how);
  if (way === "coarse") return new Coarse(root, extent, map.has_weights ? "average" : "statistics");
  const fetch = async (address: Address, signal: AbortSignal): Promise<WeightTile> => {
    const frame = await source.tile(
      map.place,
      head as number,
      address.level,
      address.row,
      address.column,
      how,
      "uint8",
      signal,
    );
    return tileOf(tensor(frame, "tile"), address.level, address.row * 256, address.column * 256);
  };
  return new Long(fetch, heard, Math.max(1, map.levels), root, extent);
}

async function readWhole(source: RecordingSource, map: MapDescription, head: Head): Promise<WeightTile> {
  if (head === "model")
    return tileOf(tensor(await source.average(map.place.stack, map.place.kind), "weights"), 0, 0, 0);
  return tileOf(tensor(await source.weights(map.place, { head }, "uint8"), "weights"), 0, 0, 0);
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
  const [, height = 0, width = 0] = tensor(frame, map.place.address).shape;
  const level = thumbnailLevel(map, height, width);
  const at = { height, width, level, row: 0, column: 0 };
  if (typeof head === "number") {
    const all = tensor(frame, map.place.address);
    const cells = height * width;
    const bytes = toBytes(all).subarray(head * cells, (head + 1) * cells);
    return { ...at, bytes, maximum: all.maximum, zero: zeroByte(all.scale) };
  }
  const mean = new Float32Array(height * width);
  let heads = 0;
  let signed = false;
  for (const each of alike) {
    const all = tensor(frame, each.place.address);
    const floats = asFloats(all);
    signed ||= all.content === "signed";
    heads += each.heads;
    for (let place = 0; place < floats.length; place++) mean[place % mean.length]! += floats[place]!;
  }
  return {
    ...at,
    ...quantise(
      mean.map((sum) => sum / Math.max(1, heads)),
      signed,
    ),
  };
}

/** A thumbnail shows 2**level tokens a pixel. */
export function thumbnailLevel(map: MapDescription, height: number, width: number): number {
  for (let level = 0; level < 31; level++) {
    if (Math.ceil(map.queries / 2 ** level) <= height && Math.ceil(map.keys / 2 ** level) <= width)
      return level;
  }
  return 0;
}

/** A tensor (query, key) as a tile; floats become bytes under their own maximum. */
export function tileOf(from: Tensor, level: number, row: number, column: number): WeightTile {
  const [height = 0, width = 0] = from.shape.slice(-2);
  const at = { width, height, level, row, column };
  if (from.dtype === "uint8" && (from.scale === "sqrt" || from.scale === "signed_sqrt"))
    return { ...at, bytes: toBytes(from), maximum: from.maximum, zero: zeroByte(from.scale) };
  return { ...at, ...quantise(asFloats(from), from.content === "signed") };
}

function toBytes(from: Tensor): Uint8Array {
  return from.data instanceof Uint8Array ? from.data : Uint8Array.from(from.data as ArrayLike<number>);
}

class Dense implements Supply {
  readonly missing = 0;
  readonly coarse = null;
  level = 0;
  private readonly tiles: WeightTile[];

  constructor(
    whole: WeightTile,
    private readonly extent: Extent,
    private readonly how: How,
  ) {
    this.tiles = [whole];
  }

  placements({ camera }: Look): readonly Placement[] {
    const sides = Math.ceil(Math.log2(Math.max(2, this.extent.queries, this.extent.keys)));
    this.level = levelFor(camera.scale, sides + 1);
    while (this.tiles.length <= this.level) this.tiles.push(coarsen(this.tiles.at(-1)!, this.how));
    return [{ tile: this.tiles[this.level]!, ...everything(this.extent) }];
  }

  dispose(): void {}
}

class Long implements Supply {
  readonly coarse = null;
  level = 0;
  private readonly tiles: Tiles;

  constructor(
    fetch: (address: Address, signal: AbortSignal) => Promise<WeightTile>,
    heard: Heard,
    private readonly levels: number,
    root: WeightTile,
    private readonly extent: Extent,
  ) {
    this.tiles = new Tiles(fetch, heard, levels, root);
  }

  get missing(): number {
    return this.tiles.missing;
  }

  placements(look: Look): readonly Placement[] {
    this.level = levelFor(look.camera.scale, this.levels);
    const addresses = cover(look, this.extent, this.level, look.near);
    this.tiles.want(addresses);
    return this.tiles.place(addresses, this.extent);
  }

  dispose(): void {
    this.tiles.dispose();
  }
}

class Coarse implements Supply {
  readonly missing = 0;
  readonly level: number;

  constructor(
    private readonly tile: WeightTile,
    private readonly extent: Extent,
    readonly coarse: "average" | "statistics",
  ) {
    this.level = tile.level;
  }

  placements(): readonly Placement[] {
    return [{ tile: this.tile, ...everything(this.extent) }];
  }

  dispose(): void {}
}

function everything(extent: Extent): Omit<Placement, "tile"> {
  return { queries: [0, extent.queries], keys: [0, extent.keys] };
}

/** About the weight of a cell, from what is drawn there. */
export function glance(
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
