import { expect, it } from "vitest";
import { encodeWav } from "./wav";

it("writes what a WAV file has: its head, and samples that stay within 16 bits", async () => {
  const wav = encodeWav(new Float32Array([0, 0.5, -1, 2]), 8000);
  const bytes = new DataView(await wav.arrayBuffer());
  const text = (at: number): string =>
    String.fromCharCode(...[0, 1, 2, 3].map((offset) => bytes.getUint8(at + offset)));
  expect([text(0), text(8), text(12), text(36)]).toEqual(["RIFF", "WAVE", "fmt ", "data"]);
  expect(bytes.getUint32(4, true)).toBe(bytes.byteLength - 8);
  expect(bytes.getUint32(24, true)).toBe(8000);
  expect(bytes.getUint32(40, true)).toBe(8);
  expect([44, 46, 48, 50].map((at) => bytes.getInt16(at, true))).toEqual([0, 16384, -32768, 32767]);
});
