/**
 * All heads of some queries, as bytes on a square-root scale, which keeps small weights apart.
 *
 * In:   bytes, and the weight that each stands for.
 * Out:  how much weight each byte value holds.
 */

export interface Block {
  readonly start: number; // first query
  readonly stop: number;
  readonly heads: number;
  readonly keys: number;
  readonly bytes: Uint8Array; // (head, query, key)
  readonly values: Float32Array; // what a byte stands for; the larger the byte, the larger its size
  readonly weightOf: Float32Array; // (head, byte): the sum of weights with that byte
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
  return Float32Array.from(counts, (count, at) => count * Math.abs(values[at % 256]!));
}

/**
 * Signed bytes (128 is zero) ordered by size, as those of weights are: twice the size, and one more below zero. Their
 * values have signs.
 */
export function orderSigned(bytes: Uint8Array, maximum: number): Pick<Block, "bytes" | "values"> {
  return {
    bytes: bytes.map((byte) => 2 * Math.min(127, Math.abs(byte - 128)) + (byte < 128 ? 1 : 0)),
    values: Float32Array.from(
      { length: 256 },
      (_, code) => (code & 1 ? -1 : 1) * maximum * ((code >> 1) / 127) ** 2,
    ),
  };
}
