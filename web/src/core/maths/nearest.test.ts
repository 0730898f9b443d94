import { expect, it } from "vitest";
import { nearestTokens } from "./nearest";

it("ranks tokens by the cosine of their states, whatever their lengths", () => {
  const values = Float32Array.from([1, 0, 5, 0.1, 0, 2, -3, 0]);
  const found = nearestTokens({ values, tokens: 4, width: 2 }, 0, 2);
  expect(found.map(({ token }) => token)).toEqual([1, 2]);
  expect(found[0]?.cosine).toBeCloseTo(5 / Math.hypot(5, 0.1), 6);
  expect(nearestTokens({ values, tokens: 4, width: 2 }, 0, 9).at(-1)?.cosine).toBe(-1);
});
