/**
 * Smaller answers out of whole ones, as the server would cut them: a few tokens, one head, a tile, a thumbnail.
 *
 * In:   a whole answer, and what is asked of it.
 * Out:  the bytes of the smaller answer, or null where there is no whole one.
 */

import { encodeFrame } from "../api/frame_writer";
import { asFloats, type Frame, type Tensor, tensor } from "../api/frames";
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

function span(text: string | null, length: number): readonly [number, number] {
  const [start, stop] = (text ?? "").split(":");
  return [start ? Number(start) : 0, stop ? Number(stop) : length];
}

export function cutWeights(frame: Frame | null, asked: URLSearchParams): ArrayBuffer | null {
  if (!frame) return null;
  const weights = tensor(frame, "weights");
  const [heads, queries, keys] = shape3(weights);
  const rows = span(asked.get("queries"), queries);
  const columns = span(asked.get("keys"), keys);
  const head = asked.get("head");
  const { content } = weights;
  const approximate = { approximate: weights.dtype === "uint8" };
  if (head === "mean") {
    const mean = new Float32Array((rows[1] - rows[0]) * (columns[1] - columns[0]));
    for (let each = 0; each < heads; each++) {
      const part = asFloats(cutOne(weights, each, rows, columns));
      for (let place = 0; place < mean.length; place++) mean[place]! += part[place]! / heads;
    }
    const shape = [rows[1] - rows[0], columns[1] - columns[0]];
    return encodeFrame(
      [{ name: "weights", dtype: "float32", shape, scale: null, maximum: 1, content, data: mean }],
      approximate,
    );
  }
  const chosen = head === null ? null : heads === 1 ? 0 : Number(head);
  const parts = (chosen === null ? [...Array(heads).keys()] : [chosen]).map((each) =>
    cutOne(weights, each, rows, columns),
  );
  const one = parts[0];
  if (!one) return null;
  const floats = asked.get("as") !== "uint8" || weights.dtype !== "uint8";
  const length = parts.reduce((sum, part) => sum + part.data.length, 0);
  const data = floats ? new Float32Array(length) : new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    data.set(floats ? asFloats(part) : (part.data as Uint8Array), at);
    at += part.data.length;
  }
  const shape = chosen === null ? [heads, ...one.shape] : one.shape;
  const dtype = floats ? "float32" : "uint8";
  const scale = floats ? null : weights.scale;
  const { maximum } = weights;
  return encodeFrame([{ name: "weights", dtype, shape, scale, maximum, content, data }], approximate);
}

/** A part of an array of the walk: (row, column), or of (head, row, column) those of one head or of all. */
export function cutTrace(frame: Frame | null, asked: URLSearchParams): ArrayBuffer | null {
  if (!frame) return null;
  const found = tensor(frame, "values");
  const values: Tensor = { ...found, dtype: "float32", data: asFloats(found) };
  const flat = values.shape.length === 1;
  const [heads, height, width] = flat ? [1, 1, values.shape[0] ?? 0] : shape3(values);
  const rows = span(flat ? null : asked.get("rows"), height);
  const columns = span(asked.get("columns"), width);
  const head = asked.get("head");
  const deep = values.shape.length === 3 && head === null;
  const all = deep ? [...Array(heads).keys()] : [Number(head ?? 0)];
  const whole: Tensor = { ...values, shape: [heads, height, width] };
  const parts = all.map((each) => asFloats(cutOne(whole, each, rows, columns)));
  const size = [rows[1] - rows[0], columns[1] - columns[0]];
  const data = new Float32Array(parts.length * (parts[0]?.length ?? 0));
  parts.forEach((part, place) => {
    data.set(part, place * part.length);
  });
  const shape = flat ? size.slice(1) : deep ? [heads, ...size] : size;
  return encodeFrame([{ name: "values", dtype: "float32", shape, scale: null, maximum: 1, data }], {});
}

export function shape3(weights: Tensor): readonly [number, number, number] {
  const [a = 1, b = 1, c] = weights.shape;
  return c === undefined ? [1, a, b] : [a, b, c];
}

export function cutOne(
  weights: Tensor,
  head: number,
  rows: readonly [number, number],
  columns: readonly [number, number],
): Tensor {
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
  const pooled = pool(
    cutOne(weights, heads === 1 ? 0 : head, rows, columns),
    level,
    asked.get("how") === "max",
  );
  const { shape, values: data } = pooled;
  const { content } = weights;
  return encodeFrame([{ name: "tile", dtype: "float32", shape, scale: null, maximum: 1, content, data }], {
    approximate: weights.dtype === "uint8",
  });
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
  const values = new Float32Array(heads.reduce((sum, head) => sum + head.length, 0));
  let at = 0;
  for (const head of heads) {
    values.set(head, at);
    at += head.length;
  }
  const signed = content === "signed";
  const { bytes: data, maximum } = quantise(values, signed);
  return { name, dtype: "uint8", shape, scale: signed ? "signed_sqrt" : "sqrt", maximum, content, data };
}
