import { describe, expect, it, vi } from "vitest";

import type { RecordingSource } from "../source";
import type { TokenSlice } from "../types";
import { elide, layLabels, niceStep, TokenStore } from "./axis";

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

describe("the tokens of a side", () => {
  function source(): { tokens: RecordingSource["tokens"]; asked: string[] } {
    const asked: string[] = [];
    const tokens = (side: string, range?: readonly [number, number]): Promise<TokenSlice> => {
      const [start, stop] = range ?? [0, 10];
      asked.push(`${start}:${stop}`);
      const numbers = Array.from({ length: stop - start }, (_, place) => start + place);
      return Promise.resolve({
        side: side as "source",
        start,
        texts: numbers.map(String),
        shown: numbers.map((number) => `t${number}`),
        ids: numbers,
        special: numbers.map((number) => number === 0),
        words: null,
        offsets: null,
      });
    };
    return { tokens, asked };
  }
  const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

  it("come in slices, once, and alone where neighbours are not needed", async () => {
    const { tokens, asked } = source();
    const arrived = vi.fn();
    const store = new TokenStore({ tokens } as RecordingSource, "source", 5000, arrived, () => {});
    expect(store.get(700)).toBeUndefined();
    expect(store.get(701)).toBeUndefined();
    expect(store.get(4000, true)).toBeUndefined();
    await settled();
    expect(asked).toEqual(["512:1024", "4000:4001"]);
    expect([store.get(700), store.get(1023), store.get(4000)]).toEqual(["t700", "t1023", "t4000"]);
    expect(arrived).toHaveBeenCalledTimes(2);
    expect(store.get(-1)).toBeUndefined();
    expect(store.get(5000)).toBeUndefined();
    expect(asked.length).toBe(2);
  });

  it("say which are special", async () => {
    const { tokens } = source();
    const store = new TokenStore(
      { tokens } as RecordingSource,
      "source",
      600,
      () => {},
      () => {},
    );
    expect(await store.specials()).toEqual([0]);
    expect([store.isSpecial(0), store.isSpecial(1)]).toEqual([true, false]);
  });
});
