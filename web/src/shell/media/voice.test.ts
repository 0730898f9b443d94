import { expect, test } from "vitest";
import { EXAMPLES, SPELT, speak, timeWords } from "./voice";

const RATE = 8000;

function loudness(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length);
}

test.each(EXAMPLES)("“%s” is sound between silences, the same each time", (text) => {
  const said = speak(text, RATE);
  expect(said.length / RATE).toBeGreaterThan(0.3 * text.split(" ").length);
  expect(Math.max(...said.map(Math.abs))).toBeCloseTo(0.7, 5);
  expect(loudness(said.subarray(0, 0.1 * RATE))).toBeLessThan(1e-3);
  expect(speak(text, RATE)).toEqual(said);
});

test("it can say every word of the examples, at any rate that models ask for", () => {
  for (const word of EXAMPLES.join(" ").split(" ")) expect(SPELT).toHaveProperty(word);
  for (const rate of [4000, 16_000, 48_000]) {
    const said = speak("six", rate);
    expect(said.every(Number.isFinite)).toBe(true);
    expect(said.length / rate).toBeCloseTo(speak("six", RATE).length / RATE, 2);
  }
});

test("a voice is heard at its pitch, a hiss is not", () => {
  const turns = (samples: Float32Array): number =>
    samples.reduce((sum, sample, at) => sum + Number(at > 0 && sample * samples[at - 1]! < 0), 0) / 2;
  const hissed = speak("six", RATE).subarray(0.18 * RATE, 0.26 * RATE);
  const voiced = speak("nine", RATE).subarray(0.18 * RATE, 0.26 * RATE);
  expect(turns(hissed)).toBeGreaterThan(3 * turns(voiced));
});

test.each(EXAMPLES)("the times of the words of “%s” are those of its sounds", (text) => {
  const [said, words] = [speak(text, RATE), timeWords(text)];
  expect(words.map((word) => word.text).join(" ")).toBe(text);
  const within = (from: number, to: number) => loudness(said.subarray(from * RATE, to * RATE));
  let last = 0;
  for (const { start, end } of words) {
    expect(within(start, end)).toBeGreaterThan(0.03);
    expect(within(start - 0.05, start)).toBeLessThan(0.02); // a resonance dies away
    expect(start).toBeGreaterThan(last);
    last = end;
  }
  expect(last).toBeLessThan(said.length / RATE);
});
