import { describe, expect, it } from "vitest";
import { aligned, chance, count, digits, exact, figure, fixed, percent } from "./formats";

describe("digits", () => {
  it("keeps four, with a true minus", () => {
    expect(
      [0, 0.5, 12.3456, -0.012345, 1234.5, 12345.6, 98765432.1, 0.0000123, -3].map((value) => digits(value)),
    ).toEqual(["0", "0.5000", "12.35", "−0.01235", "1,235", "12,346", "9.877e7", "1.230e−5", "−3"]);
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

describe("aligned", () => {
  it("puts the points of a column under one another", () => {
    const values = [4, 7.3333, 11.5, -0.25, 1234, "token", null, 0.99999];
    const write = aligned(values);
    const column = values.filter((value) => typeof value === "number").map(write);
    expect(new Set(column.map((text) => text.length)).size).toBe(1);
    const points = column.map((text) => text.search(/[.\u2008]/));
    expect(new Set(points).size).toBe(1);
    expect(column.map((text) => text.replace(/[\u2007\u2008]/g, ""))).toEqual([
      "4",
      "7.333",
      "11.50",
      "−0.2500",
      "1,234",
      "1.000",
    ]);
    expect(Number(column[1])).toBe(7.333); // blanks are blanks to a reader, too
    expect(aligned([1, 12])(1)).toBe("\u20071");
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
    expect(count(1234567)).toBe("1,234,567");
    expect(percent(0.12345)).toBe("12.3\u202f%");
    expect(percent(1)).toBe("100\u202f%");
  });
});

describe("fixed, chance and figure", () => {
  it("keep places, without a sign before zero", () => {
    expect([fixed(-0.5, 2), fixed(-0.001, 2), fixed(1234.5, 0), fixed(-Infinity, 2)]).toEqual([
      "−0.50",
      "0.00",
      "1235",
      "−∞",
    ]);
    expect([figure(-0.12345), figure(12, 1), figure(1e-9)]).toEqual(["-0.123", "12", "0"]);
  });
  it("do not round small chances to nothing", () => {
    expect([0, 1e-7, 0.0123, 0.5, 1].map(chance)).toEqual([
      "0\u202f%",
      "<\u202f0.01\u202f%",
      "1.23\u202f%",
      "50.0\u202f%",
      "100.0\u202f%",
    ]);
  });
});

describe("the page", () => {
  const sources = import.meta.glob<string>("../**/*.{ts,tsx}", {
    eager: true,
    query: "?raw",
    import: "default",
  });
  it("formats numbers here and nowhere else", () => {
    const others = Object.entries(sources).filter(([path]) => !/\/testing\/|\.test\.tsx?$/.test(path));
    const found = others.filter(([, text]) =>
      /\.to(?:Fixed|Precision|Exponential|LocaleString)\(|Intl\.NumberFormat/.test(text),
    );
    expect(others.length).toBeGreaterThan(200);
    expect(found.map(([path]) => path)).toEqual(["./formats.ts"]);
  });
});
