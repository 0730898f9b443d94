/**
 * Attention as floats: rows, columns and blocks of a map, for one head, all heads, or an average.
 *
 * In:   a source, a map, which head.
 * Out:  arrays of weights; what came as bytes on a square-root scale is weights again.
 */

import { asFloats, byteTable, tensor } from "../api/frames";
import type { MapDescription, SideName, TokenSlice } from "../api/types";
import { bytesOf } from "../core/heat";
import { axisOf, type Head, sideOf } from "../core/maps";
import type { Selection } from "../core/selection";
import type { Precision, Range, RecordingSource } from "../core/source";
import { type Block, orderSigned, sumByByte } from "../core/weight_bytes";

/** Where one query looks: a weight for each key. */
export async function readRow(
  source: RecordingSource,
  map: MapDescription,
  head: Head,
  query: number,
): Promise<Float32Array> {
  const [start, stop] = [query * map.keys, (query + 1) * map.keys];
  if (head === "model") return (await readMatrix(source, map, head, "float32")).slice(start, stop);
  const frame = await source.weights(map.place, { head, queries: [query, query + 1] }, "float32");
  return asFloats(tensor(frame, "weights"));
}

/** Who looks at one key: a weight for each query. */
export async function readColumn(
  source: RecordingSource,
  map: MapDescription,
  head: Head,
  key: number,
): Promise<Float32Array> {
  if (head === "model") {
    const all = await readMatrix(source, map, head, "float32");
    return Float32Array.from({ length: map.queries }, (_, query) => all[query * map.keys + key] ?? 0);
  }
  const frame = await source.weights(map.place, { head, keys: [key, key + 1] }, "float32");
  return asFloats(tensor(frame, "weights"));
}

/** How much attention each key receives from all queries together. */
export async function readMass(
  source: RecordingSource,
  map: MapDescription,
  head: Head,
): Promise<Float32Array> {
  const all = asFloats(tensor(await source.statistics(map.place), "mass")); // (head, key)
  if (typeof head === "number") return all.slice(head * map.keys, (head + 1) * map.keys);
  const mean = new Float32Array(map.keys);
  for (let place = 0; place < all.length; place++) {
    const key = place % map.keys;
    mean[key] = mean[key]! + all[place]! / map.heads;
  }
  return mean;
}

/** All heads of one row or column as (head, token). */
export async function readHeads(
  source: RecordingSource,
  map: MapDescription,
  place: { query: number } | { key: number },
  as: Precision = "float32",
): Promise<Float32Array> {
  const range = (at: number): Range => [at, at + 1];
  const where = "query" in place ? { queries: range(place.query) } : { keys: range(place.key) };
  return asFloats(tensor(await source.weights(map.place, { head: "all", ...where }, as), "weights"));
}

/** The whole matrix of one head or average, (query, key). */
export async function readMatrix(
  source: RecordingSource,
  map: MapDescription,
  head: Head,
  as: Precision,
): Promise<Float32Array> {
  const frame =
    head === "model"
      ? await source.average(map.place.stack, map.place.kind)
      : await source.weights(map.place, { head }, as);
  return asFloats(tensor(frame, "weights"));
}

/** The last tokens of a side. */
export function readLast(source: RecordingSource, side: SideName, most: number): Promise<TokenSlice> {
  const count = source.description[side]?.count ?? 0;
  return source.tokens(side, [Math.max(0, count - most), count]);
}

/** The tokens of one axis of a map. */
export function readAxis(
  source: RecordingSource,
  map: MapDescription,
  axis: "query" | "key",
  selection: Pick<Selection, "options">,
  part?: Range,
): Promise<TokenSlice> {
  const [start, count] = axisOf(map, axis);
  const [from, to] = part ?? [0, count];
  return source.tokens(sideOf(map, axis, selection), [start + from, start + to]);
}

const ONE_CALL = 3_500_000; // cells: the server gives 4 million
const PER_BLOCK = 1_000_000;
const KEPT = 24_000_000;

/** All heads of a map as bytes, in blocks of queries that are fetched when looked at and forgotten when old. */
export class Blocks {
  readonly size: number; // queries in a block
  readonly heads: number;
  private readonly kept = new Map<number, Block>();
  private readonly coming = new Map<number, Promise<Block>>();

  constructor(
    private readonly source: RecordingSource,
    readonly map: MapDescription,
    private readonly model = false, // the average of all layers, as one head
  ) {
    this.heads = model ? 1 : map.heads;
    const row = Math.max(1, this.heads * map.keys);
    this.size =
      model || row * map.queries <= ONE_CALL ? map.queries : Math.max(1, Math.floor(PER_BLOCK / row));
  }

  /** Whether one block holds the whole map. */
  get whole(): boolean {
    return this.size >= this.map.queries;
  }

  /** The block of a query, if it is here. */
  at(query: number): Block | undefined {
    return this.kept.get(Math.floor(query / this.size));
  }

  all(): Iterable<Block> {
    return this.kept.values();
  }

  /** Fetch the block of a query. */
  load(query: number): Promise<Block> {
    const number = Math.floor(query / this.size);
    const here = this.kept.get(number);
    if (here !== undefined) {
      this.kept.delete(number); // the most recently used comes last
      this.kept.set(number, here);
      return Promise.resolve(here);
    }
    let promise = this.coming.get(number);
    if (promise === undefined) {
      promise = this.fetch(number).finally(() => this.coming.delete(number));
      this.coming.set(number, promise);
    }
    return promise;
  }

  private async fetch(number: number): Promise<Block> {
    const start = number * this.size;
    const stop = Math.min(this.map.queries, start + this.size);
    const frame = this.model
      ? await this.source.average(this.map.place.stack, this.map.place.kind)
      : await this.source.weights(this.map.place, { head: "all", queries: [start, stop] }, "uint8");
    const raw = bytesOf(tensor(frame, "weights"));
    const signed = this.map.content === "signed";
    const plain = { bytes: raw.bytes, values: byteTable("sqrt", raw.maximum) };
    const { bytes, values } = signed ? orderSigned(raw.bytes, raw.maximum) : plain;
    const block = {
      start,
      stop,
      heads: this.heads,
      keys: this.map.keys,
      bytes,
      values,
      weightOf: sumByByte(bytes, this.heads, values),
    };
    this.kept.set(number, block);
    this.forget();
    return block;
  }

  private forget(): void {
    let cells = 0;
    for (const block of this.kept.values()) cells += block.bytes.length;
    for (const [number, block] of this.kept) {
      if (cells <= KEPT || this.kept.size === 1) return;
      this.kept.delete(number);
      cells -= block.bytes.length;
    }
  }
}
