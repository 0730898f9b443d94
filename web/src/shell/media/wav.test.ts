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
  expect(bytes.byteLength).toBe(52);
  expect([44, 46, 48, 50].map((at) => bytes.getInt16(at, true))).toEqual([0, 16384, -32768, 32767]);
});

it("labels the words that are said, behind the samples", async () => {
  const words = [
    { text: "six", start: 0.1, end: 0.25 },
    { text: "zero", start: 0.5, end: 1 },
  ];
  const wav = encodeWav(new Float32Array(8000), 8000, words);
  const bytes = new Uint8Array(await wav.arrayBuffer());
  const view = new DataView(bytes.buffer);
  const number = (at: number) => view.getUint32(at, true);
  const text = (from: number, to: number) => new TextDecoder().decode(bytes.subarray(from, to));
  expect(number(4)).toBe(bytes.length - 8);
  expect(number(40)).toBe(16_000); // the samples alone
  const cue = 44 + 16_000;
  expect([text(cue, cue + 4), number(cue + 4), number(cue + 8)]).toEqual(["cue ", 52, 2]);
  expect([0, 1].map((at) => number(cue + 12 + 24 * at))).toEqual([1, 2]);
  expect([0, 1].map((at) => number(cue + 32 + 24 * at))).toEqual([800, 4000]);
  const list = cue + 60;
  expect([text(list, list + 4), text(list + 8, list + 12)]).toEqual(["LIST", "adtl"]);
  expect(number(list + 4)).toBe(bytes.length - list - 8);
  const labels = text(list + 12, bytes.length);
  expect(labels.match(/ltxt|rgn |labl|six|zero/g)).toEqual(
    ["ltxt", "rgn ", "labl", "six", "ltxt", "rgn ", "labl", "zero"], // each begins at an even place
  );
  expect(number(list + 12 + 12)).toBe(1200); // samples of the first word
});
