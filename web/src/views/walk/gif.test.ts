import { describe, expect, test } from "vitest";
import { type GifFrame, GifWriter, quantise } from "./gif";

async function encodeGif(frames: readonly GifFrame[], width: number, height: number): Promise<Uint8Array> {
  const gif = new GifWriter(width, height);
  for (const frame of frames) gif.add(frame);
  return new Uint8Array(await gif.end().arrayBuffer());
}

/** Reads a GIF as the standard says; written apart from the encoder. */
function readGif(bytes: Uint8Array) {
  let at = 0;
  const byte = () => bytes[at++]!;
  const short = () => byte() | (byte() << 8);
  const take = (count: number) => {
    at += count;
    return bytes.subarray(at - count, at);
  };
  expect(String.fromCharCode(...take(6))).toBe("GIF89a");
  const [width, height] = [short(), short()];
  at += 3;
  const frames: { delay: number; pixels: number[][] }[] = [];
  let delay = 0;
  for (let kind = byte(); kind !== 0x3b; kind = byte()) {
    if (kind === 0x21) {
      const label = byte();
      const size = byte();
      if (label === 0xf9) {
        at += 1;
        delay = short();
        at += 1;
      } else at += size;
      for (let rest = byte(); rest !== 0; rest = byte()) at += rest;
      continue;
    }
    expect(kind).toBe(0x2c);
    at += 4;
    expect([short(), short()]).toEqual([width, height]);
    const flags = byte();
    expect(flags & 0x80).toBe(0x80);
    const colours = 2 ** ((flags & 7) + 1);
    const palette = take(3 * colours);
    const least = byte();
    const data: number[] = [];
    for (let size = byte(); size !== 0; size = byte()) data.push(...take(size));
    const indices = inflate(data, least);
    expect(indices.length).toBe(width * height);
    frames.push({ delay, pixels: indices.map((index) => [...palette.subarray(3 * index, 3 * index + 3)]) });
  }
  return { width, height, frames };
}

function inflate(data: readonly number[], least: number): number[] {
  const clear = 1 << least;
  let [size, bit] = [least + 1, 0];
  let table: number[][] = [];
  const start = () => {
    table = Array.from({ length: clear + 2 }, (_, index) => [index]);
    size = least + 1;
  };
  const out: number[] = [];
  let before: number[] | null = null;
  for (;;) {
    let code = 0;
    for (let place = 0; place < size; place++, bit++) code |= ((data[bit >> 3]! >> (bit & 7)) & 1) << place;
    if (code === clear) {
      start();
      before = null;
      continue;
    }
    if (code === clear + 1) return out;
    const word: number[] = table[code] ?? [...before!, before![0]!];
    for (const index of word) out.push(index);
    if (before !== null && table.length < 4096) table.push([...before, word[0]!]);
    if (table.length === 1 << size && size < 12) size += 1;
    before = word;
  }
}

function picture(
  width: number,
  height: number,
  colour: (x: number, y: number) => readonly number[],
): Uint8Array {
  const pixels = new Uint8Array(4 * width * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) pixels.set([...colour(x, y), 255], 4 * (y * width + x));
  return pixels;
}

describe("animated GIF", () => {
  test("few colours come back exactly, frame by frame, with their times", async () => {
    const one = picture(40, 30, (x, y) => (x > y ? [255, 0, 0] : [0, 20, 200]));
    const two = picture(40, 30, (x) => [x, 100, 255 - x]);
    const read = readGif(
      await encodeGif(
        [
          { pixels: one, seconds: 1 },
          { pixels: two, seconds: 0.25 },
        ],
        40,
        30,
      ),
    );
    expect(read.frames.map((frame) => frame.delay)).toEqual([100, 25]);
    const colours = (pixels: Uint8Array) =>
      Array.from({ length: pixels.length / 4 }, (_, at) => [...pixels.subarray(4 * at, 4 * at + 3)]);
    expect(read.frames[0]!.pixels).toEqual(colours(one));
    expect(read.frames[1]!.pixels).toEqual(colours(two));
  });

  test("codes grow to twelve bits and start again", async () => {
    let seed = 7;
    const noise = picture(200, 120, () => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return [(seed >> 16) & 255, 0, 0];
    });
    const { frames } = readGif(await encodeGif([{ pixels: noise, seconds: 1 }], 200, 120));
    expect(frames[0]!.pixels.every((colour, at) => colour[0] === noise[4 * at])).toBe(true);
  });

  test("many colours become 256 that are near", () => {
    const many = picture(64, 64, (x, y) => [4 * x, 4 * y, 2 * (x + y)]);
    const { palette, indices } = quantise(many);
    expect(new Set(indices).size).toBeLessThanOrEqual(256);
    let worst = 0;
    indices.forEach((index, at) => {
      for (let part = 0; part < 3; part++)
        worst = Math.max(worst, Math.abs(palette[3 * index + part]! - many[4 * at + part]!));
    });
    expect(worst).toBeLessThan(32);
  });
});
