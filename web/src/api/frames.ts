/**
 * Binary frames: named arrays behind a small JSON header.
 *
 * In:   bytes from the server, a notebook or the file itself.
 * Out:  Frame; arrays are views on the same bytes, nothing is copied (but float16, which is widened).
 */

import type { FrameArrayHeader, FrameHeader } from "./generated";

export type Numbers = Uint8Array | Uint16Array | Int32Array | BigInt64Array | Float32Array | Float64Array;

type Scale = NonNullable<FrameArrayHeader["scale"]>;

export interface Tensor extends Omit<FrameArrayHeader, "offset" | "bytes" | "content"> {
  readonly content?: FrameArrayHeader["content"] | undefined; // weights or signed values of a map; otherwise something else
  readonly data: Numbers; // float16 is widened to Float32Array on reading; bool is Uint8Array
}

export interface Frame {
  readonly arrays: ReadonlyMap<string, Tensor>;
  readonly meta: Readonly<Record<string, unknown>>;
}

/** Bytes that are no frame, or a frame of another time. */
export class FrameError extends Error {
  override readonly name = "FrameError";
}

const MAGIC = "GLASSFR1";
const HEAD = 12; // magic and the length of the header
const ARRAYS = {
  bool: Uint8Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  float16: Uint16Array,
  float32: Float32Array,
  float64: Float64Array,
};

/** Read a frame. The arrays look into `bytes`: do not write there. */
export function decodeFrame(bytes: ArrayBuffer): Frame {
  if (bytes.byteLength < HEAD) throw new FrameError(`A frame of ${bytes.byteLength} bytes is too short.`);
  const text = new TextDecoder();
  const magic = text.decode(new Uint8Array(bytes, 0, 8));
  if (magic !== MAGIC) throw new FrameError(`This is no frame: it begins with ${JSON.stringify(magic)}.`);
  const length = new DataView(bytes).getUint32(8, true);
  const payload = HEAD + length;
  if (payload > bytes.byteLength) throw new FrameError("The frame ends within its header.");
  const header = JSON.parse(text.decode(new Uint8Array(bytes, HEAD, length))) as FrameHeader;
  const arrays = new Map<string, Tensor>();
  for (const entry of header.arrays) {
    arrays.set(entry.name, {
      name: entry.name,
      dtype: entry.dtype,
      shape: entry.shape,
      scale: entry.scale ?? null,
      maximum: entry.maximum ?? 1,
      content: entry.content ?? null,
      data: view(bytes, payload, entry),
    });
  }
  return { arrays, meta: header.meta ?? {} };
}

/** The array of that name; says so when it is not there. */
export function tensor(frame: Frame, name: string): Tensor {
  const found = frame.arrays.get(name);
  if (!found)
    throw new FrameError(`The frame has no array "${name}", only ${[...frame.arrays.keys()].join(", ")}.`);
  return found;
}

/** The values of an array: undoes the scale of bytes. */
export function asFloats(from: Tensor): Float32Array {
  if (from.data instanceof Float32Array) return from.data;
  const { data, maximum } = from;
  const floats = new Float32Array(data.length);
  if (data instanceof BigInt64Array) {
    for (let i = 0; i < data.length; i++) floats[i] = Number(data[i]);
  } else if (from.dtype === "uint8" && from.scale !== null) {
    const table = byteTable(from.scale, maximum);
    for (let i = 0; i < data.length; i++) floats[i] = table[data[i]!]!;
  } else {
    floats.set(data);
  }
  return floats;
}

/** What each of the 256 bytes stands for. */
export function byteTable(scale: Scale, maximum: number): Float32Array {
  const zero = zeroByte(scale);
  return Float32Array.from({ length: 256 }, (_, byte) => {
    const share = (byte - zero) / (255 - zero);
    return maximum * (scale === "linear" ? share : share * Math.abs(share));
  });
}

/** The byte that stands for zero. */
export function zeroByte(scale: Scale | null): 0 | 128 {
  return scale === "signed_sqrt" ? 128 : 0;
}

function view(bytes: ArrayBuffer, payload: number, entry: FrameArrayHeader): Numbers {
  const Numbers = ARRAYS[entry.dtype as keyof typeof ARRAYS];
  if (Numbers === undefined)
    throw new FrameError(`The frame has numbers of a kind not known here: ${entry.dtype}.`);
  const width = Numbers.BYTES_PER_ELEMENT;
  const count = entry.shape.reduce((product, side) => product * side, 1);
  const start = payload + entry.offset;
  if (count * width !== entry.bytes || start + entry.bytes > bytes.byteLength) {
    throw new FrameError(`The array "${entry.name}" does not fill its place in the frame.`);
  }
  const aligned = start % width === 0;
  const from = aligned ? bytes : bytes.slice(start, start + entry.bytes);
  const numbers = new Numbers(from, aligned ? start : 0, count);
  return entry.dtype === "float16" ? widen(numbers as Uint16Array) : numbers;
}

let halves: Float32Array | null = null; // every half-precision number, made on first use where the browser has no Float16Array

/** Half precision to single, exactly. */
export function widen(bits: Uint16Array): Float32Array {
  if (typeof Float16Array !== "undefined") {
    return new Float32Array(new Float16Array(bits.buffer, bits.byteOffset, bits.length));
  }
  halves ??= allHalves();
  const wide = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) wide[i] = halves[bits[i]!]!;
  return wide;
}

/** The value of each of the 65,536 half-precision bit patterns. */
export function allHalves(): Float32Array {
  const values = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 0) values[bits] = sign * fraction * 2 ** -24;
    else if (exponent === 31) values[bits] = fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    else values[bits] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return values;
}
