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

  it("know what they were cut from, once the picture is here", async () => {
    const image = {} as ImageBitmap;
    vi.stubGlobal("createImageBitmap", async () => image);
    const picture = { rows: 2, columns: 3, width: 30, height: 40, cells: [-1, 0, 5] };
    const media = vi.fn(async () => new ArrayBuffer(0));
    const pictured = { description: { source: { count: 3, picture } }, media } as unknown as RecordingSource;
    const arrived = vi.fn();
    const store = new SideTokens(pictured, "source", arrived);
    expect([store.crop(1), store.crop(2)]).toEqual([null, null]);
    await vi.waitFor(() => expect(arrived).toHaveBeenCalled());
    expect([0, 1, 2].map((token) => store.crop(token)?.box)).toEqual([
      undefined,
      [0, 0, 10, 20],
      [20, 20, 10, 20],
    ]);
    expect(media).toHaveBeenCalledTimes(1);
    vi.unstubAllGlobals();
  });
});
