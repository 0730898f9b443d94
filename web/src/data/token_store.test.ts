import { describe, expect, it, vi } from "vitest";
import type { TokenSlice } from "../api/types";
import type { RecordingSource } from "../core/source";
import { TokenStore } from "./token_store";

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
