/**
 * Smaller answers out of whole ones, as the server would cut them: a few tokens, one head, a tile, a thumbnail.
 *
 * In:   a whole answer, and what is asked of it.
 * Out:  the bytes of the smaller answer, or null where there is no whole one.
 */

import { encodeFrame } from "../api/frame_writer";
import { asFloats, decodeFrame, type Frame, type Tensor, tensor } from "../api/frames";
import type { TokenSlice } from "../api/types";
import { quantise } from "../core/heat";

export function cutTokens(bytes: ArrayBuffer | null, asked: URLSearchParams): ArrayBuffer | null {
  if (!bytes) return null;
  const all = JSON.parse(new TextDecoder().decode(bytes)) as TokenSlice;
  const start = Number(asked.get("start") ?? 0);
  const stop = Number(asked.get("stop") ?? all.texts.length);
  const cut = <T>(list: readonly T[]): readonly T[] => list.slice(start, stop);
  const part: TokenSlice = {
    ...all,
    start,
    texts: cut(all.texts),
    shown: cut(all.shown),
    ids: cut(all.ids),
    special: cut(all.special),
    words: all.words && cut(all.words),
    offsets: all.offsets && cut(all.offsets),
  };
  return new TextEncoder().encode(JSON.stringify(part)).buffer as ArrayBuffer;
}

type Span = readonly [start: number, stop: number];

function span(text: string | null, length: number): Span {
  const [start, stop] = (text ?? "").split(":");
  return [start ? Number(start) : 0, stop ? Number(stop) : length];
}

/** One array of floats as a frame. */
function floatFrame(
  name: string,
  shape: readonly number[],
  data: Float32Array,
  from: Tensor, // what it was cut out of
): ArrayBuffer {
  const { content, dtype } = from;
  return encodeFrame([{ name, dtype: "float32", shape, scale: null, maximum: 1, content, data }], {
    approximate: dtype === "uint8",
  });
}

/** Arrays of the same length, one behind the other. */
function join<A extends Uint8Array | Float32Array>(parts: readonly A[], make: (length: number) => A): A {
  const size = parts[0]?.length ?? 0;
  const whole = make(parts.length * size);
  parts.forEach((part, at) => {
    whole.set(part, at * size);
  });
  return whole;
}

const joinFloats = (parts: readonly Float32Array[]) => join(parts, (length) => new Float32Array(length));

function meanOf(parts: readonly Tensor[]): Float32Array {
  const mean = new Float32Array(parts[0]?.data.length ?? 0);
  for (const part of parts) {
    const floats = asFloats(part);
    for (let place = 0; place < mean.length; place++) mean[place]! += floats[place]! / parts.length;
  }
  return mean;
}

/** A part of all heads of a map, of one, or of their mean. */
export function cutWeights(frame: Frame | null, asked: URLSearchParams): ArrayBuffer | null {
  if (!frame) return null;
  const weights = tensor(frame, "weights");
  const [heads, queries, keys] = shape3(weights);
  const rows = span(asked.get("queries"), queries);
  const columns = span(asked.get("keys"), keys);
  const head = asked.get("head");
  const all = head === null || head === "mean";
  const chosen = all ? [...Array(heads).keys()] : [heads === 1 ? 0 : Number(head)];
  const parts = chosen.map((each) => cutOne(weights, each, rows, columns));
  const size = [rows[1] - rows[0], columns[1] - columns[0]];
  const shape = head === null ? [heads, ...size] : size;
  if (weights.dtype === "uint8" && asked.get("as") === "uint8" && head !== "mean") {
    const bytes = parts.map((part) => part.data as Uint8Array);
    const data = join(bytes, (length) => new Uint8Array(length));
    return encodeFrame([{ ...weights, shape, data }], { approximate: true });
  }
  const data = head === "mean" ? meanOf(parts) : joinFloats(parts.map(asFloats));
  return floatFrame("weights", shape, data, weights);
}

/** The mean of heads that came one by one, as bytes of `cutWeights`. */
export function averageHeads(heads: readonly ArrayBuffer[]): ArrayBuffer | null {
  const parts = heads.map((bytes) => tensor(decodeFrame(bytes), "weights"));
  const first = parts[0];
  if (!first) return null;
  return floatFrame("weights", first.shape, meanOf(parts), { ...first, dtype: "uint8" });
}

/** A part of an array of the walk: (row, column), or of (head, row, column) those of one head or of all. */
export function cutTrace(frame: Frame | null, asked: URLSearchParams): ArrayBuffer | null {
  if (!frame) return null;
  const found = tensor(frame, "values");
  const flat = found.shape.length === 1;
  const [heads, height, width] = flat ? [1, 1, found.shape[0] ?? 0] : shape3(found);
  const rows = span(flat ? null : asked.get("rows"), height);
  const columns = span(asked.get("columns"), width);
  const head = asked.get("head");
  const deep = found.shape.length === 3 && head === null;
  const whole: Tensor = { ...found, dtype: "float32", shape: [heads, height, width], data: asFloats(found) };
  const chosen = deep ? [...Array(heads).keys()] : [Number(head ?? 0)];
  const parts = chosen.map((each) => asFloats(cutOne(whole, each, rows, columns)));
  const size = [rows[1] - rows[0], columns[1] - columns[0]];
  const shape = flat ? size.slice(1) : deep ? [heads, ...size] : size;
  return floatFrame("values", shape, joinFloats(parts), whole);
}

export function shape3(weights: Tensor): readonly [number, number, number] {
  const [a = 1, b = 1, c] = weights.shape;
  return c === undefined ? [1, a, b] : [a, b, c];
}

export function cutOne(weights: Tensor, head: number, rows: Span, columns: Span): Tensor {
  const [, queries, keys] = shape3(weights);
  const height = rows[1] - rows[0];
  const width = columns[1] - columns[0];
  const source = weights.data as Uint8Array | Float32Array;
  const data =
    source instanceof Uint8Array ? new Uint8Array(height * width) : new Float32Array(height * width);
  for (let row = 0; row < height; row++) {
    const from = head * queries * keys + (rows[0] + row) * keys + columns[0];
    data.set(source.subarray(from, from + width), row * width);
  }
  return { ...weights, shape: [height, width], data };
}

/** One tile, as the server cuts it. */
export function cutTile(
  frame: Frame,
  head: number,
  level: number,
  row: number,
  column: number,
  asked: URLSearchParams,
): ArrayBuffer {
  const weights = tensor(frame, "weights");
  const [heads, queries, keys] = shape3(weights);
  const size = 256 * 2 ** level;
  const rows = [row * size, Math.min((row + 1) * size, queries)] as const;
  const columns = [column * size, Math.min((column + 1) * size, keys)] as const;
  const part = cutOne(weights, heads === 1 ? 0 : head, rows, columns);
  const { shape, values } = pool(part, level, asked.get("how") === "max");
  return floatFrame("tile", shape, values, weights);
}

/** The finest level at which a map fits into 64 × 64 pixels: recording/statistics.py has the same rule. */
export function thumbnailLevel(queries: number, keys: number): number {
  return Math.max(0, Math.ceil(Math.log2(Math.max(queries, keys, 1))) - 6);
}

interface Pixels {
  readonly shape: readonly [number, number];
  readonly values: Float32Array;
}

/** Means, or what is farthest from zero, of squares of 2**level tokens: recording/pooling.py has the same squares. */
export function pool(part: Tensor, level: number, highest: boolean): Pixels {
  const fine = asFloats(part);
  const step = 2 ** level;
  const [height = 0, width = 0] = part.shape;
  const down = Math.ceil(height / step);
  const across = Math.ceil(width / step);
  const values = new Float32Array(down * across);
  for (let i = 0; i < height; i++) {
    const line = Math.floor(i / step) * across;
    for (let j = 0; j < width; j++) {
      const at = line + Math.floor(j / step);
      const weight = fine[i * width + j]!;
      const most = Math.abs(values[at]!);
      if (!highest) values[at]! += weight;
      else if (Math.abs(weight) > most || weight === most) values[at] = weight;
    }
  }
  if (!highest && level > 0) {
    for (let y = 0; y < down; y++) {
      for (let x = 0; x < across; x++) {
        const cells = Math.min(step, height - y * step) * Math.min(step, width - x * step);
        values[y * across + x]! /= cells;
      }
    }
  }
  return { shape: [down, across], values };
}

/** Heads as bytes on the square-root scale of frames, under one maximum. */
export function asBytes(
  name: string,
  shape: readonly number[],
  heads: readonly Float32Array[],
  content: "weights" | "signed",
): Tensor {
  const signed = content === "signed";
  const { bytes: data, maximum } = quantise(joinFloats(heads), signed);
  return { name, dtype: "uint8", shape, scale: signed ? "signed_sqrt" : "sqrt", maximum, content, data };
}
