/**
 * The arithmetic of pictures and sounds, for one number at a time, as the server has it in walk/media_cells.py.
 *
 * In:   a Cell.
 * Out:  Working.
 */

import type { Cell, Working } from "./file_working";

const WINDOW = 2.5; // hops of a sound that one column of its spectrogram hears
const FLOOR = 8; // powers of ten below a full tone that count as silence

/** A pixel of a patch: a byte, minus a mean, divided by a deviation. */
export function cut(cell: Cell): Working {
  const { step, row: patch, column: place, input: name } = cell;
  const { size = 1, grid = 1, channels = 1 } = step.numbers;
  const channel = Math.floor(place / size ** 2);
  const inside = place % size ** 2;
  const row = Math.floor(patch / grid) * size + Math.floor(inside / size);
  const column = (patch % grid) * size + (inside % size);
  const at = channel * grid * size + row; // the planes of colours lie one below the other
  const byte = cell.array(name).values[at * grid * size + column]!;
  const mean = cell.learned(step.parameters.mean, channel);
  const deviation = cell.learned(step.parameters.vector, channel);
  const where = { picture_row: row, picture_column: column, ...(channels > 1 ? { channel } : {}) };
  const numbers = { byte, pixel_mean: mean, pixel_deviation: deviation, ...where };
  const reads = [{ name, head: null, row: at, column }];
  return { result: (byte / 255 - mean) / deviation, numbers, reads };
}

/** Samples of a Fourier transform, and how many of them are heard. */
function measureTransform(hop: number): readonly [size: number, length: number] {
  const length = roundHalf(WINDOW * hop);
  return [2 ** Math.max(5, Math.ceil(Math.log2(length))), length];
}

/** How strong a frequency is in a stretch of sound. */
export function transform(cell: Cell): Working {
  const { step, row, column, input: name } = cell;
  const { hop = 1, rate = 1 } = step.numbers;
  const [size, length] = measureTransform(hop);
  const start = row * hop - Math.floor((size - hop) / 2) + Math.floor((size - length) / 2);
  const samples = cell.array(name).values;
  const heard = Array.from({ length }, (_, at) => {
    const fade = 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / length);
    return (samples[start + at] ?? 0) * fade;
  });
  const angle = (at: number) => (2 * Math.PI * column * at) / size;
  const right = heard.map((_, at) => Math.cos(angle(at)));
  const cosine = heard.reduce((sum, sample, at) => sum + sample * right[at]!, 0);
  const sine = heard.reduce((sum, sample, at) => sum + sample * Math.sin(angle(at)), 0);
  const [first, last] = [Math.max(0, start), Math.min(samples.length, start + length)];
  return {
    result: (cosine ** 2 + sine ** 2) / (length / 4) ** 2,
    left: heard,
    right,
    sum: cosine,
    numbers: {
      hertz: (column * rate) / size,
      cosine,
      sine,
      from_second: first / rate,
      to_second: last / rate,
    },
    reads: [{ name, head: null, row: null, column: first }],
  };
}

/** The power in a band of frequencies, on a scale of powers of ten. */
export function findLoudness(cell: Cell): Working {
  const { step, column, row, input } = cell;
  const { hop = 1, rate = 1 } = step.numbers;
  const bands = step.shape.output!.at(-1)!;
  const [size] = measureTransform(hop);
  const highest = 2595 * Math.log10(1 + rate / 2 / 700);
  const corner = (at: number) => 700 * (10 ** ((at * highest) / (bands + 1) / 2595) - 1);
  const [left, middle, right] = [corner(column), corner(column + 1), corner(column + 2)];
  const power = cell.vector();
  const hertz = Array.from(power, (_, at) => (at * rate) / size);
  const share = hertz.map((each) =>
    Math.max(0, Math.min((each - left) / (middle - left), (right - each) / (right - middle))),
  );
  const sum = share.reduce((total, part, at) => total + part * power[at]!, 0);
  return {
    result: (Math.log10(Math.max(sum, 10 ** -FLOOR)) + FLOOR) / 4,
    left: power,
    right: share,
    sum,
    labels: (at) => `${roundHalf(hertz[at]!)} Hz`,
    numbers: { from_hertz: left, to_hertz: right },
    reads: [cell.read(input, row)],
  };
}

/** As Python writes whole numbers: of two that are as near, the even one. */
function roundHalf(value: number): number {
  const low = Math.floor(value);
  if (value - low !== 0.5) return Math.round(value);
  return low % 2 === 0 ? low : low + 1;
}
