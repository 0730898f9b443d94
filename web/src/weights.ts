/**
 * Attention as floats: rows, columns and blocks of a map, for one head, all heads, or an average.
 *
 * In:   a source, a map, which head.
 * Out:  arrays of weights; what came as bytes on a square-root scale is weights again.
 */

import { asFloats, byteTable, tensor } from "./bundle";
import type { Selection } from "./selection";
import type { Precision, Range, RecordingSource } from "./source";
import type { Description, MapDescription, SideName, TokenSlice } from "./types";

export type Head = Selection["head"];

/** The map of the selection, or the first one. */
export function chooseMap(description: Description, selection: Selection): MapDescription | null {
  return description.maps.find((each) => each.index === selection.map) ?? description.maps[0] ?? null;
}

/** A head that the map has: numbers too large become its last. */
export function chooseHead(map: MapDescription, head: Head): Head {
  return typeof head === "number" ? Math.max(0, Math.min(map.heads - 1, head)) : head;
}

/** Where one query looks: a weight for each key. */
export async function readRow(
  source: RecordingSource,
  map: MapDescription,
  head: Head,
  query: number,
): Promise<Float32Array> {
  if (head === "model") {
    const all = await readMatrix(source, map, head, "float32");
    return all.slice(query * map.keys, (query + 1) * map.keys);
  }
  const frame = await source.weights(map.index, { head, queries: [query, query + 1] }, "float32");
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
  const frame = await source.weights(map.index, { head, keys: [key, key + 1] }, "float32");
  return asFloats(tensor(frame, "weights"));
}

/** How much attention each key receives from all queries together. */
export async function readMass(
  source: RecordingSource,
  map: MapDescription,
  head: Head,
): Promise<Float32Array> {
  const all = asFloats(tensor(await source.statistics(map.index), "mass")); // (head, key)
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
  return asFloats(tensor(await source.weights(map.index, { head: "all", ...where }, as), "weights"));
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
      ? await source.average(map.stack, map.kind)
      : await source.weights(map.index, { head }, as);
  return asFloats(tensor(frame, "weights"));
}

/** The tokens of one axis of a map. */
export function readAxis(
  source: RecordingSource,
  map: MapDescription,
  axis: "query" | "key",
  part?: Range,
): Promise<TokenSlice> {
  const [side, start, count] = axisOf(map, axis);
  const [from, to] = part ?? [0, count];
  return source.tokens(side, [start + from, start + to]);
}

export function axisOf(map: MapDescription, axis: "query" | "key"): readonly [SideName, number, number] {
  return axis === "query"
    ? [map.query_side, map.query_start, map.queries]
    : [map.key_side, map.key_start, map.keys];
}

/** The rows of a map that the selection's tokens are, counted on their axes; null where it has none of them. */
export function selectedRows(
  map: MapDescription,
  selection: Selection,
): Readonly<Record<"query" | "key", number | null>> {
  const row = (axis: "query" | "key") => {
    const [, start, count] = axisOf(map, axis);
    const at = (selection[axis] ?? Number.NaN) - start;
    return at >= 0 && at < count ? at : null;
  };
  return { query: row("query"), key: row("key") };
}

const ONE_CALL = 3_500_000; // cells: the server gives 4 million
const PER_BLOCK = 1_000_000;
const KEPT = 24_000_000;

export interface Block {
  readonly start: number; // first query
  readonly stop: number;
  readonly heads: number;
  readonly keys: number;
  readonly bytes: Uint8Array; // (head, query, key)
  readonly values: Float32Array; // what a byte stands for
  readonly weightOf: Float32Array; // (head, byte): the sum of weights with that byte
}

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
      this.kept.delete(number); // to the young end
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
      ? await this.source.average(this.map.stack, this.map.kind)
      : await this.source.weights(this.map.index, { head: "all", queries: [start, stop] }, "uint8");
    const weights = tensor(frame, "weights");
    const ready = weights.data instanceof Uint8Array && weights.scale === "sqrt";
    const bytes = ready ? (weights.data as Uint8Array) : toBytes(asFloats(weights));
    const values = byteTable("sqrt", ready ? weights.maximum : 1);
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

/** Weights as bytes on the square-root scale; what is not zero stays visible. */
export function toBytes(weights: Float32Array): Uint8Array {
  const bytes = new Uint8Array(weights.length);
  for (let place = 0; place < weights.length; place++) {
    const weight = weights[place]!;
    bytes[place] = weight > 0 ? Math.max(1, Math.min(255, Math.round(255 * Math.sqrt(weight)))) : 0;
  }
  return bytes;
}

function sumByByte(bytes: Uint8Array, heads: number, values: Float32Array): Float32Array {
  const counts = new Float64Array(heads * 256);
  const each = bytes.length / heads;
  for (let head = 0; head < heads; head++) {
    const from = head * 256;
    for (let place = head * each; place < (head + 1) * each; place++) {
      const at = from + bytes[place]!;
      counts[at] = counts[at]! + 1;
    }
  }
  return Float32Array.from(counts, (count, at) => count * values[at % 256]!);
}
