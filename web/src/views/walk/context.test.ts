import { describe, expect, test } from "vitest";
import { rowOf, type WalkContext } from "./context";
import { turns } from "./look";

describe("the row that speaks", () => {
  const context = (shape: string, query: number | null = null) =>
    ({
      stage: { selection: { get: () => ({ query }) } },
      options: { now: { cell: null } },
      plan: { shape },
      tokens: { source: null, target: null },
    }) as unknown as WalkContext;

  test("the last of a text that goes on, the first of a translation; a chosen one before either", () => {
    expect(rowOf(context("decoder"), 5, true)).toBe(4);
    expect(rowOf(context("encoder-decoder"), 5, true)).toBe(0);
    expect(rowOf(context("encoder"), 5, true)).toBe(1);
    expect(rowOf(context("encoder-decoder", 3), 5, true)).toBe(3);
    expect(rowOf(context("encoder-decoder"), 5)).toBe(1); // of matrices that say no word
  });
});

describe("names of columns", () => {
  test("lie where they fit, each for itself", () => {
    expect(turns("I", 12)).toBe(false);
    expect(turns("'", 12)).toBe(false);
    expect(turns("爱", 14)).toBe(false);
    expect(turns("voiture", 22)).toBe(true);
    expect(turns("我爱你", 22)).toBe(true);
  });
});
