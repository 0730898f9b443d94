import { describe, expect, it } from "vitest";
import { entropyOf, rescale } from "./softmax";

const SCORES = [1, 2, -Infinity, 0.5];
const softmax = (scores: readonly number[], sink = 0) => {
  const parts = scores.map(Math.exp);
  const total = parts.reduce((sum, part) => sum + part, sink);
  return parts.map((part) => part / total);
};

describe("rescale", () => {
  it("is softmax of factor × scores; masked keys stay at nought", () => {
    const changed = rescale(SCORES, softmax(SCORES), 1.7);
    const wanted = softmax(SCORES.map((score) => 1.7 * score));
    for (const [key, weight] of wanted.entries()) expect(changed[key]).toBeCloseTo(weight, 12);
    expect(changed[2]).toBe(0);
  });
  it("gives the recorded weights back for factor 1, and an even spread for 0", () => {
    const weights = softmax(SCORES);
    for (const [key, weight] of weights.entries())
      expect(rescale(SCORES, weights, 1)[key]).toBeCloseTo(weight, 12);
    expect([...rescale(SCORES, weights, 0)]).toEqual([1 / 3, 1 / 3, 0, 1 / 3]);
  });
  it("keeps the score of a sink", () => {
    const weights = softmax(SCORES, Math.exp(1.2));
    const wanted = softmax(
      SCORES.map((score) => 2 * score),
      Math.exp(1.2),
    );
    for (const [key, weight] of wanted.entries())
      expect(rescale(SCORES, weights, 2)[key]).toBeCloseTo(weight, 12);
  });
  it("copes with a row that may look nowhere, and with huge scores", () => {
    expect([...rescale([-Infinity, -Infinity], [0, 0], 2)]).toEqual([0, 0]);
    expect(rescale([5000, 4000], [1, 0], 3)[0]).toBe(1);
  });
});

describe("entropyOf", () => {
  it("is the logarithm of the number of equal weights", () => {
    expect(entropyOf([0.25, 0.25, 0.25, 0.25, 0])).toBeCloseTo(Math.log(4), 12);
    expect(entropyOf([1, 0])).toBe(0);
  });
});
