/**
 * The spectrum of a sound over time.
 *
 * In:   samples.
 * Out:  loudness in decibels by time and frequency, the loudest at 0.
 */

const FLOOR = -80; // decibels: less is silence

/** The discrete Fourier transform in place, radix 2: `real` and `imaginary` have 2^n numbers. */
export function transform(real: Float64Array, imaginary: Float64Array): void {
  const count = real.length;
  for (let at = 1, other = 0; at < count; at++) {
    let bit = count >> 1;
    for (; other & bit; bit >>= 1) other ^= bit;
    other ^= bit;
    if (at < other) {
      [real[at], real[other]] = [real[other]!, real[at]!];
      [imaginary[at], imaginary[other]] = [imaginary[other]!, imaginary[at]!];
    }
  }
  for (let size = 2; size <= count; size <<= 1) {
    const half = size >> 1;
    for (let turn = 0; turn < half; turn++) {
      const angle = (-2 * Math.PI * turn) / size;
      const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
      for (let at = turn; at < count; at += size) {
        const pair = at + half;
        const one = real[pair]! * cosine - imaginary[pair]! * sine;
        const two = real[pair]! * sine + imaginary[pair]! * cosine;
        real[pair] = real[at]! - one;
        imaginary[pair] = imaginary[at]! - two;
        real[at] = real[at]! + one;
        imaginary[at] = imaginary[at]! + two;
      }
    }
  }
}

export interface Spectrogram {
  readonly columns: number; // of time
  readonly bins: number; // of frequency, the lowest first
  readonly highest: number; // Hz of the last bin's end
  readonly decibels: Float32Array; // (column, bin) from -80 to 0
}

/** `columns` windows of about 30 ms, spread over the whole sound; frequencies up to `highest`. */
export function spectrogram(
  samples: ArrayLike<number>,
  rate: number,
  columns: number,
  highest = 8000,
): Spectrogram {
  const size = 2 ** Math.max(5, Math.round(Math.log2(0.03 * rate)));
  const bins = Math.max(1, Math.min(size / 2, Math.ceil((highest * size) / rate)));
  const decibels = new Float32Array(columns * bins);
  const [real, imaginary] = [new Float64Array(size), new Float64Array(size)];
  let loudest = 1e-12;
  for (let column = 0; column < columns; column++) {
    const first = Math.round(((column + 0.5) * samples.length) / columns - size / 2);
    for (let at = 0; at < size; at++) {
      const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / size);
      real[at] = (samples[first + at] ?? 0) * window;
    }
    imaginary.fill(0);
    transform(real, imaginary);
    for (let bin = 0; bin < bins; bin++) {
      const power = real[bin]! ** 2 + imaginary[bin]! ** 2;
      decibels[column * bins + bin] = power;
      loudest = Math.max(loudest, power);
    }
  }
  for (let at = 0; at < decibels.length; at++)
    decibels[at] = Math.max(FLOOR, 10 * Math.log10(Math.max(decibels[at]!, 1e-30) / loudest));
  return { columns, bins, highest: (bins * rate) / size, decibels };
}
