import { describe, expect, it } from "vitest";
import { count, digits, exact, percent } from "./formats";

describe("digits", () => {
  it("keeps about four, with a true minus", () => {
    expect(
      [0, 0.5, 12.3456, -0.012345, 1234.5, 12345.6, 98765432.1, 0.0000123, -3].map((value) => digits(value)),
    ).toEqual(["0", "0.500", "12.35", "−0.0123", "1235", "12\u202f346", "9.88e7", "1.23e−5", "−3"]);
  });
  it("shows what is no number as such", () => {
    expect([null, Number.NaN, Infinity, -Infinity].map((value) => digits(value))).toEqual([
      "–",
      "–",
      "∞",
      "−∞",
    ]);
  });
});

describe("exact", () => {
  it("gives the shortest decimal of a float32 that reads back as the same", () => {
    for (const value of [0.1, -0.3333333, 1e-8, 123456.789, 16777217].map(Math.fround)) {
      expect(Math.fround(Number(exact(value)))).toBe(value);
    }
    expect(exact(Math.fround(0.1))).toBe("0.1");
    expect(exact(0.1)).toBe("0.1");
    expect(exact(1 / 3)).toBe(String(1 / 3));
    expect(exact(null)).toBe("");
  });
});

describe("count and percent", () => {
  it("group thousands and keep three digits", () => {
    expect(count(1234567)).toBe("1\u202f234\u202f567");
    expect(percent(0.12345)).toBe("12.3\u202f%");
    expect(percent(1)).toBe("100\u202f%");
  });
});
