/**
 * Weights as bytes on a square-root scale, which keeps small weights apart.
 *
 * In:   weights from 0 to 1.
 * Out:  bytes; for a block of them, how much weight each byte value holds.
 */

export interface Block {
  readonly start: number; // first query
  readonly stop: number;
  readonly heads: number;
  readonly keys: number;
  readonly bytes: Uint8Array; // (head, query, key)
  readonly values: Float32Array; // what a byte stands for
  readonly weightOf: Float32Array; // (head, byte): the sum of weights with that byte
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

/** For each head, how much weight the cells of each byte value have together: (head, byte). */
export function sumByByte(bytes: Uint8Array, heads: number, values: Float32Array): Float32Array {
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
