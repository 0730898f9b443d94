import { expect, test } from "vitest";
import { spectrogram, transform } from "./spectrum";

test("the transform is the sum that defines it", () => {
  const given = Array.from({ length: 16 }, (_, at) => Math.sin(at * at) + at / 7);
  const [real, imaginary] = [Float64Array.from(given), new Float64Array(16)];
  transform(real, imaginary);
  for (let bin = 0; bin < 16; bin++) {
    const turn = (at: number) => (2 * Math.PI * at * bin) / 16;
    expect(real[bin]).toBeCloseTo(
      given.reduce((sum, value, at) => sum + value * Math.cos(turn(at)), 0),
      10,
    );
    expect(imaginary[bin]).toBeCloseTo(
      given.reduce((sum, value, at) => sum - value * Math.sin(turn(at)), 0),
      10,
    );
  }
});

test("a tone is loudest at its frequency, where it sounds; silence is at the floor", () => {
  const rate = 8000;
  const samples = Int16Array.from({ length: rate }, (_, at) =>
    at < rate / 2 ? 9000 * Math.sin((2 * Math.PI * 1000 * at) / rate) : 0,
  );
  const { bins, highest, decibels, columns } = spectrogram(samples, rate, 10);
  expect([columns, highest]).toEqual([10, 4000]);
  const column = decibels.subarray(2 * bins, 3 * bins);
  const loudest = column.indexOf(Math.max(...column));
  expect((loudest + 0.5) * (highest / bins)).toBeGreaterThan(950);
  expect((loudest + 0.5) * (highest / bins)).toBeLessThan(1050);
  expect(Math.max(...decibels.subarray(8 * bins, 9 * bins))).toBe(-80);
  const nothing = spectrogram(new Int16Array(100), rate, 3); // shorter than a window
  expect(Math.max(...nothing.decibels)).toBe(-80);
});
