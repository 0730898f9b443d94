import { describe, expect, it, vi } from "vitest";
import type { TokenSlice } from "../api/types";
import type { RecordingSource } from "../core/source";
import { SideTokens } from "./side_tokens";

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
  function holding(tokens: RecordingSource["tokens"], count: number): RecordingSource {
    return { tokens, description: { source: { count } } } as unknown as RecordingSource;
  }
  const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

  it("come in slices, once, and alone where neighbours are not needed", async () => {
    const { tokens, asked } = source();
    const arrived = vi.fn();
    const store = new SideTokens(holding(tokens, 5000), "source", arrived);
    expect(store.get(700)).toBeUndefined();
    expect(store.get(701)).toBeUndefined();
    expect(store.get(4000, true)).toBeUndefined();
    await store.settled();
    expect(asked).toEqual(["0:1024", "4000:4001"]);
    expect([store.get(700), store.get(1023), store.get(4000)]).toEqual(["t700", "t1023", "t4000"]);
    expect(arrived).toHaveBeenCalledTimes(2);
    expect(store.get(-1)).toBeUndefined();
    expect(store.get(5000)).toBeUndefined();
    expect(asked.length).toBe(2);
  });

  it("say which are special", async () => {
    const { tokens } = source();
    const store = new SideTokens(holding(tokens, 600), "source");
    expect(await store.specials()).toEqual([0]);
    expect([store.isSpecial(0), store.isSpecial(1)]).toEqual([true, false]);
  });

  it("are awaited, joined with their neighbours, and asked again after a failure", async () => {
    const { tokens, asked } = source();
    let broken = true;
    const failing: RecordingSource["tokens"] = (side, range) =>
      broken ? Promise.reject(new Error("gone")) : tokens(side, range);
    const failed = vi.fn();
    const store = new SideTokens(holding(failing, 3000), "source", () => {}, failed);
    expect([store.shown(5), store.shown(-1), store.shown(3000)]).toEqual(["…", "", ""]);
    await settled();
    expect(failed).toHaveBeenCalledTimes(1);
    await expect(store.load(0, 3000)).rejects.toThrow("gone");
    broken = false;
    await store.load(1000, 3000);
    expect(asked.sort()).toEqual(["0:1024", "1024:2048", "2048:3000"]);
    expect(store.context(1, 2)).toEqual(["t0", "t1", "t2 t3"]);
  });
});
