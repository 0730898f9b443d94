/**
 * Writes frames, which frames.ts reads: for answers that are cut out of larger ones.
 *
 * In:   arrays of bytes or floats.
 * Out:  the bytes of a frame.
 */

import type { Tensor } from "./frames";

const MAGIC = "GLASSFR1";

export function encodeFrame(
  tensors: readonly Tensor[],
  meta: Readonly<Record<string, unknown>>,
): ArrayBuffer {
  let end = 0;
  const arrays = tensors.map(({ name, dtype, shape, scale, maximum, content = null, data }) => {
    const offset = end;
    end = align(offset + data.byteLength);
    return { name, dtype, shape, offset, bytes: data.byteLength, scale, maximum, content };
  });
  const words = new TextEncoder().encode(JSON.stringify({ arrays, meta }));
  const start = align(12 + words.length);
  const frame = new Uint8Array(start + end);
  frame.set(new TextEncoder().encode(MAGIC));
  new DataView(frame.buffer).setUint32(8, start - 12, true);
  frame.fill(0x20, 12, start); // the header is padded with blanks
  frame.set(words, 12);
  tensors.forEach(({ data }, index) => {
    frame.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), start + arrays[index]!.offset);
  });
  return frame.buffer;
}

function align(place: number): number {
  return Math.ceil(place / 8) * 8;
}
