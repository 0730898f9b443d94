import { describe, expect, test } from "vitest";
import { encode } from "../testing/frames";
import { allHalves, asFloats, byteTable, decodeFrame, FrameError, tensor, widen } from "./frames";

const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

describe("a frame", () => {
  test("gives back every kind of number, shape and scale", () => {
    const frame = decodeFrame(
      encode(
        [
          {
            name: "bytes",
            dtype: "uint8",
            shape: [3],
            bytes: Uint8Array.of(0, 128, 255),
            scale: "sqrt",
            maximum: 0.5,
          },
          { name: "words", dtype: "uint16", shape: [2], bytes: bytesOf(Uint16Array.of(1, 65535)) },
          { name: "counts", dtype: "int32", shape: [2, 1], bytes: bytesOf(Int32Array.of(-5, 7)) },
          { name: "long", dtype: "int64", shape: [1], bytes: bytesOf(BigInt64Array.of(-9n)) },
          {
            name: "half",
            dtype: "float16",
            shape: [4],
            bytes: bytesOf(Uint16Array.of(0x3c00, 0xc000, 0x7c00, 0x0001)),
          },
          { name: "single", dtype: "float32", shape: [2], bytes: bytesOf(Float32Array.of(1.5, -Infinity)) },
          { name: "double", dtype: "float64", shape: [], bytes: bytesOf(Float64Array.of(0.1)) },
          { name: "mask", dtype: "bool", shape: [2], bytes: Uint8Array.of(1, 0) },
          { name: "empty", dtype: "float32", shape: [0, 4], bytes: new Uint8Array(0) },
        ],
        { note: "汤姆" },
      ),
    );
    expect(frame.meta).toEqual({ note: "汤姆" });
    const data = (name: string) => Array.from(tensor(frame, name).data as ArrayLike<number | bigint>);
    expect(data("words")).toEqual([1, 65535]);
    expect(data("counts")).toEqual([-5, 7]);
    expect(data("long")).toEqual([-9n]);
    expect(data("half")).toEqual([1, -2, Infinity, 2 ** -24]);
    expect(tensor(frame, "half").data).toBeInstanceOf(Float32Array);
    expect(data("single")).toEqual([1.5, -Infinity]);
    expect(data("double")).toEqual([0.1]);
    expect(data("mask")).toEqual([1, 0]);
    expect(data("empty")).toEqual([]);
    expect(tensor(frame, "counts").shape).toEqual([2, 1]);
    const weights = asFloats(tensor(frame, "bytes"));
    expect(weights[0]).toBe(0);
    expect(weights[1]).toBeCloseTo(0.5 * (128 / 255) ** 2, 7);
    expect(weights[2]).toBe(0.5);
  });

  test("refuses what is no frame, or a broken one", () => {
    const good = encode([{ name: "a", dtype: "float32", shape: [2], bytes: new Uint8Array(8) }]);
    expect(() => decodeFrame(new ArrayBuffer(4))).toThrow(FrameError);
    expect(() => decodeFrame(new TextEncoder().encode("<!doctype html>").buffer as ArrayBuffer)).toThrow(
      "no frame",
    );
    expect(() => decodeFrame(good.slice(0, 40))).toThrow("within its header");
    expect(() => decodeFrame(good.slice(0, good.byteLength - 8))).toThrow("does not fill");
    expect(() =>
      decodeFrame(encode([{ name: "a", dtype: "float32", shape: [3], bytes: new Uint8Array(8) }])),
    ).toThrow("does not fill");
    expect(() =>
      decodeFrame(encode([{ name: "a", dtype: "complex64", shape: [1], bytes: new Uint8Array(8) }])),
    ).toThrow("complex64");
    expect(() => tensor(decodeFrame(good), "b")).toThrow('"b", only a');
  });

  test("half precision: all 65,536 values, with and without the browser's help", () => {
    const values = allHalves();
    const bits = Uint16Array.from({ length: 65536 }, (_, i) => i);
    const wide = widen(bits);
    expect(values[0x3555]).toBeCloseTo(1 / 3, 3);
    expect(values[0x03ff]).toBe(1023 * 2 ** -24); // the largest subnormal
    expect(values[0x7bff]).toBe(65504);
    expect(Object.is(values[0x8000], -0)).toBe(true);
    for (let i = 0; i < 65536; i++) {
      if (!Object.is(values[i], wide[i])) throw new Error(`bits ${i}: ${values[i]} and ${wide[i]}`);
    }
  });

  test("bytes stand for weights by a square root, or evenly", () => {
    expect(byteTable("sqrt", 1)[255]).toBe(1);
    expect(byteTable("sqrt", 1)[51]).toBeCloseTo(0.04, 7);
    expect(byteTable("linear", 2)[51]).toBeCloseTo(0.4, 6);
  });
});
