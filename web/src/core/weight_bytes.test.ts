import { expect, test } from "vitest";
import { fan, gather } from "../marks/arcs";
import { orderSigned, sumByByte } from "./weight_bytes";

const RAW = Uint8Array.from([128, 255, 1, 160, 64, 128]); // zero, the most, the least, …

test("signed bytes are ordered by size and keep their signs", () => {
  const { bytes, values } = orderSigned(RAW, 2);
  expect([...bytes].map((byte) => values[byte])).toEqual([
    0,
    2,
    -2,
    Math.fround(2 * (32 / 127) ** 2),
    Math.fround(-2 * (64 / 127) ** 2),
    0,
  ]);
  const sizes = [...values].map(Math.abs);
  expect(sizes).toEqual([...sizes].sort((one, other) => one - other));
  expect([...sumByByte(bytes, 1, values)].every((sum) => sum >= 0)).toBe(true);
});

test("lines of signed values: the strongest last, on both sides of zero, above the threshold", () => {
  const { bytes, values } = orderSigned(RAW, 2);
  const block = {
    start: 0,
    stop: 2,
    heads: 1,
    keys: 3,
    bytes,
    values,
    weightOf: sumByByte(bytes, 1, values),
  };
  const lines = gather([block], { heads: [0], threshold: 0.3, queries: [0, 2], most: 10 });
  expect([...lines.weight].map((weight) => Number(weight.toFixed(2)))).toEqual([-0.51, 2, -2]);
  expect([...lines.key]).toEqual([1, 1, 2]);
  const one = fan(Float32Array.from([-2, 0.1, 1]), { query: 0 }, { heads: [0], threshold: 0.5 }, 3);
  expect([...one.weight]).toEqual([1, -2]);
});
