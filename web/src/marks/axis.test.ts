import { describe, expect, it } from "vitest";
import { elide, layLabels, niceStep } from "./axis";

describe("labels along an axis", () => {
  it("have round steps", () => {
    expect([0.2, 1, 1.2, 2, 2.1, 5.5, 11, 49, 51, 1300].map(niceStep)).toEqual([
      1, 1, 2, 2, 5, 10, 20, 50, 100, 2000,
    ]);
  });

  it("never overlap, at any zoom", () => {
    for (const scale of [0.006, 0.05, 0.7, 1.3, 4, 9.9, 15, 60]) {
      const labels = layLabels({ first: 12.3, scale, length: 700, count: 100_000, room: 15 });
      expect(labels.length).toBeGreaterThan(3);
      for (let place = 1; place < labels.length; place++) {
        expect(labels[place]!.at - labels[place - 1]!.at).toBeGreaterThanOrEqual(15 - 1e-6);
      }
    }
  });

  it("name every token close up, and number those far away", () => {
    const near = layLabels({ first: 0, scale: 20, length: 200, count: 8, room: 15 });
    expect(near.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(near.some(({ numbered }) => numbered)).toBe(false);
    const far = layLabels({ first: 0, scale: 0.5, length: 500, count: 1000, room: 15 });
    expect(far.every(({ index, numbered }) => index % 50 === 0 && numbered)).toBe(true);
  });

  it("stay within the axis", () => {
    for (const { at } of layLabels({ first: 3.9, scale: 18, length: 100, count: 50, room: 15 })) {
      expect(at).toBeGreaterThan(0);
      expect(at).toBeLessThan(100);
    }
  });
});

describe("long names", () => {
  const measure = (text: string): number => [...text].length;
  it("are cut in the middle", () => {
    expect(elide("short", 9, measure)).toBe("short");
    expect(elide("incomprehensibilities", 9, measure)).toBe("incomp…es");
    expect(elide("incomprehensibilities", 1, measure)).toBe("…");
  });
  it("are cut between letters, not within them", () => {
    expect(elide("😀😀😀😀😀", 3, measure)).toBe("😀😀…");
  });
});
