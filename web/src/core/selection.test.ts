import { describe, expect, test } from "vitest";
import {
  createSelection,
  findCorrections,
  nothingSelected,
  readSelection,
  type Selection,
  sameSelection,
  writeSelection,
} from "./selection";

/** A small generator of our own: the same sequence every time. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const letters = [..."abz09.-_~!*'() %&=+#?/:,;@\"<>\\|é中文😀‮\n\t"];

function anySelection(roll: (sides: number) => number): Selection {
  const text = (): string =>
    Array.from({ length: 1 + roll(8) }, () => letters[roll(letters.length)]).join("");
  const place = (): number | null => (roll(3) === 0 ? null : roll(100_000));
  const heads = [roll(64), "mean", "model"] as const;
  const options: Record<string, string> = {};
  for (let i = roll(4); i > 0; i--) options[`view.${text()}`] = roll(5) === 0 ? "" : text();
  return {
    recording: text(),
    beside: text(),
    run: text(),
    study: text(),
    view: text(),
    place:
      roll(5) === 0
        ? null
        : {
            stack: `s${text().replaceAll("\n", "")}`,
            kind: roll(2) ? "self" : "cross",
            layer: roll(99),
            step: place(),
          },
    head: heads[roll(3)]!,
    query: place(),
    key: place(),
    step: place(),
    options,
  };
}

describe("a selection in the URL", () => {
  test("comes back as it was, whatever is in it", () => {
    const roll = dice(7);
    for (let round = 0; round < 2000; round++) {
      const selection = anySelection(roll);
      const text = writeSelection(selection);
      expect({ ...nothingSelected, ...readSelection(`#${text}`) }, text).toEqual(selection);
    }
  });

  test("survives the address bar of a browser", () => {
    const roll = dice(11);
    for (let round = 0; round < 300; round++) {
      const selection = anySelection(roll);
      const url = new URL(`http://localhost/#${writeSelection(selection)}`);
      expect({ ...nothingSelected, ...readSelection(url.hash) }).toEqual(selection);
    }
  });

  test("reads like a sentence", () => {
    const selection = {
      ...nothingSelected,
      recording: "white-cat-12ab",
      view: "heatmap",
      place: { stack: "decoder", kind: "cross", layer: 3, step: null } as const,
      head: 2,
      query: 4,
      options: { "heatmap.zoom": "2,0.5" },
    };
    expect(writeSelection(selection)).toBe(
      "recording=white-cat-12ab&view=heatmap&place=decoder.cross.3&head=2&query=4&heatmap.zoom=2,0.5",
    );
  });

  test("takes what it understands and leaves the rest", () => {
    expect(readSelection("#map=-1&head=x&query=1e5&key=4.5&step=7&color=red&view=lines")).toEqual({
      map: 0,
      place: null,
      head: 0,
      query: null,
      key: null,
      step: 7,
      view: "lines",
    });
    expect(readSelection("")).toEqual({});
    expect(readSelection("place=nowhere")).toEqual({ place: null });
  });

  test("of an old link names a map by its index, until its place is known", () => {
    expect(readSelection("map=3&head=1")).toEqual({ map: 3, place: null, head: 1 });
    expect(writeSelection({ ...nothingSelected, ...readSelection("map=3&head=1") })).toBe("map=3&head=1");
    expect(readSelection("map=3&place=decoder.self.1").map).toBeUndefined();
  });
});

describe("the store", () => {
  test("tells once, and only of changes", () => {
    const store = createSelection();
    const heard: [Selection, Selection][] = [];
    store.subscribe((now, before) => heard.push([now, before]));
    store.set({ head: 0 });
    store.option("a.b", null);
    expect(heard).toHaveLength(0);
    store.set({ query: 2, head: 1 });
    store.option("a.b", "1");
    store.option("a.b", "1");
    store.set({ options: { "a.b": "1" } });
    expect(heard).toHaveLength(2);
    expect(heard[0]![0]).toMatchObject({ query: 2, head: 1 });
    expect(heard[0]![1]).toEqual(nothingSelected);
    store.option("a.b", null);
    expect(store.get().options).toEqual({});
  });

  test("lets every listener see changes in the same order, also those made while telling", () => {
    const store = createSelection();
    const seen: (number | null)[][] = [[], []];
    store.subscribe((now) => {
      seen[0]!.push(now.query);
      if (now.query === 1) store.set({ query: 2 });
    });
    store.subscribe((now) => seen[1]!.push(now.query));
    store.set({ query: 1 });
    expect(seen).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  test("goes on after a listener that throws", () => {
    const store = createSelection();
    const forget = store.subscribe(() => {
      throw new Error("mine");
    });
    expect(() => store.set({ query: 1 })).toThrow("mine");
    forget();
    const heard: (number | null)[] = [];
    store.subscribe((now) => heard.push(now.query));
    store.set({ query: 2 });
    expect(heard).toEqual([2]);
  });

  test("an unsubscribed listener hears nothing, even while the others are told", () => {
    const store = createSelection();
    const heard: string[] = [];
    const forget = store.subscribe(() => heard.push("second"));
    forget();
    store.subscribe(() => heard.push("first"));
    store.set({ query: 5 });
    expect(heard).toEqual(["first"]);
  });

  test("sameSelection looks at every part", () => {
    const roll = dice(3);
    const one = anySelection(roll);
    expect(sameSelection(one, { ...one, options: { ...one.options } })).toBe(true);
    for (const change of [
      { recording: "x y" },
      { view: "x y" },
      { place: { stack: "", kind: "self", layer: 0, step: null } as const },
      { beside: "x y" },
      { run: "x y" },
      { head: -1 },
      { query: -1 },
      { key: -1 },
      { step: -1 },
      { options: { ...one.options, "x.y": "z" } },
    ]) {
      expect(sameSelection(one, { ...one, ...change })).toBe(false);
    }
  });
});

describe("a link that names what is not there", () => {
  const now = {
    ...nothingSelected,
    view: "lines",
    place: { stack: "decoder", kind: "self" as const, layer: 3, step: null },
    head: 7,
    query: 2,
  };

  test("is told, part by part", () => {
    const link = "recording=x&view=line&place=decoder.self.9&head=99&query=500&key=4&map=999&heatmap.zoom=2";
    expect(findCorrections(link, now, 6)).toEqual([
      "view=line",
      "place=decoder.self.9",
      "head=99",
      "query=500",
      "key=4",
      "map=999",
    ]);
  });

  test("is not told of what is there", () => {
    expect(
      findCorrections("view=lines&place=decoder.self.3&head=7&query=2&map=5&key=&step=8", now, 6),
    ).toEqual([]);
    const stepped = { ...now, place: { ...now.place, step: 4 } };
    expect(findCorrections("place=decoder.self.3", stepped, 6)).toEqual([]);
    expect(findCorrections("place=decoder.self.3@5", stepped, 6)).toEqual(["place=decoder.self.3@5"]);
  });
});
