import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createSelection, nothingSelected, type Selection } from "../core/selection";
import type { SelectionAddress } from "./address";
import { mirror } from "./mirror";

/** A browser's history, in small. */
function history(first = "") {
  const pages = [first];
  let at = 0;
  let heard = (): void => {};
  const place: SelectionAddress = {
    read: () => pages[at]!,
    write(text, how) {
      if (how === "push") pages.splice(++at, pages.length, text);
      else pages[at] = text;
    },
    listen(listener) {
      heard = listener;
      return () => {
        heard = () => {};
      };
    },
    link: (text) => `http://x/#${text}`,
  };
  const go = (by: number): void => {
    at += by;
    heard();
  };
  const type = (text: string): void => {
    pages.splice(++at, pages.length, text);
    heard();
  };
  return { place, pages, go, type, at: () => at };
}

const first: Selection = { ...nothingSelected, recording: "r", view: "overview" };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("the address follows the selection", () => {
  test("scrubbing replaces, now and then; a new view is a new step", () => {
    const { place, pages } = history("recording=r&view=overview&head=0");
    const store = createSelection(first);
    mirror(store, place, async (wish) => store.set(wish));
    for (let query = 0; query < 50; query++) store.set({ query });
    expect(pages).toHaveLength(1);
    vi.advanceTimersByTime(200);
    expect(pages).toEqual(["recording=r&view=overview&head=0&query=49"]);
    store.set({ query: 7 });
    store.set({ view: "heatmap" }); // before the address was written
    expect(pages).toEqual([
      "recording=r&view=overview&head=0&query=7",
      "recording=r&view=heatmap&head=0&query=7",
    ]);
    vi.advanceTimersByTime(1000);
    expect(pages).toHaveLength(2);
  });

  test("the first picture is no step to go back from", () => {
    const { place, pages } = history();
    const store = createSelection();
    mirror(store, place, async () => {});
    store.set(first);
    vi.advanceTimersByTime(200);
    expect(pages).toEqual(["recording=r&view=overview&head=0"]);
  });

  test("the back button brings back the selection and makes no new step", async () => {
    const { place, pages, go, at } = history("recording=r&view=overview&head=0");
    const store = createSelection(first);
    mirror(store, place, async (wish) => {
      await Promise.resolve(); // opening takes a while
      store.set(wish);
    });
    store.set({ view: "lines", head: 3 });
    store.set({ recording: "s" });
    expect(pages).toHaveLength(3);
    go(-2);
    await vi.runAllTimersAsync();
    expect(store.get()).toEqual(first);
    expect([pages.length, at()]).toEqual([3, 0]);
    go(1);
    await vi.runAllTimersAsync();
    expect(store.get()).toMatchObject({ view: "lines", head: 3, recording: "r" });
    expect(pages).toHaveLength(3);
  });

  const place = { stack: "decoder", kind: "self", layer: 2, step: null } as const;

  test("a typed address without a recording speaks of the one that is open", async () => {
    const { place: bar, pages, type } = history("recording=r&view=overview&head=0");
    const store = createSelection({ ...first, place, head: 1 });
    mirror(store, bar, async (wish) => store.set(wish));
    type("view=playground");
    await vi.runAllTimersAsync();
    expect(store.get()).toEqual({ ...first, view: "playground", place, head: 1 });
    expect(pages.at(-1)).toBe("recording=r&view=playground&place=decoder.self.2&head=1");
    type("query=3");
    await vi.runAllTimersAsync();
    expect(pages.at(-1)).toBe("recording=r&view=playground&place=decoder.self.2&head=1&query=3");
    type("");
    await vi.runAllTimersAsync();
    expect(pages.at(-1)).toBe("recording=r&view=playground&place=decoder.self.2&head=1&query=3");
    type("recording=s&view=lines");
    await vi.runAllTimersAsync();
    expect(store.get()).toEqual({ ...nothingSelected, recording: "s", view: "lines" });
  });

  test("what a typed address asks for and is not there leaves the address too", async () => {
    const { place: bar, pages, type } = history("recording=r&view=overview&head=0");
    const store = createSelection(first, ({ map: _, ...wish }) => ({ ...wish, place }));
    mirror(store, bar, async (wish) => store.set(wish));
    type("map=99");
    await vi.runAllTimersAsync();
    expect(pages.at(-1)).toBe("recording=r&view=overview&place=decoder.self.2&head=0");
  });

  test("a link is that of the present selection, written or not", () => {
    const { place } = history();
    const store = createSelection(first);
    const mirrored = mirror(store, place, async () => {});
    store.set({ key: 5 });
    expect(mirrored.link()).toBe("http://x/#recording=r&view=overview&head=0&key=5");
    mirrored.stop();
    store.set({ key: 6 });
    vi.advanceTimersByTime(1000);
    expect(place.read()).toBe("");
  });
});
