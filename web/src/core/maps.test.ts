import { describe, expect, test } from "vitest";
import type { MapDescription } from "../api/types";
import { invent, makeMap } from "../testing/recording";
import { familiesOf, findMap, fitTo, layersOf, stepsOf } from "./maps";
import type { Place } from "./place";
import { createSelection, type LinkedSelection, nothingSelected, readSelection } from "./selection";

/** A map of an encoder with 4 heads and 6 tokens, but for `part`. */
function aMap({
  index,
  ...part
}: Partial<MapDescription & Place> & { readonly index: number }): MapDescription {
  return makeMap(index, { stack: "encoder", layer: 0, heads: 4, queries: 6, keys: 6, ...part });
}

const whole = [
  aMap({ index: 0 }),
  aMap({ index: 1, layer: 1 }),
  aMap({ index: 2, stack: "decoder", query_side: "target", key_side: "target", queries: 9, keys: 9 }),
  aMap({ index: 3, stack: "decoder", kind: "cross", query_side: "target", queries: 9, heads: 2 }),
  aMap({ index: 4, stack: "decoder", kind: "cross", query_side: "target", queries: 9, layer: 1 }),
];
const steps = [0, 1, 2].flatMap((step) =>
  [0, 1].map((layer) =>
    aMap({
      index: 2 * step + layer,
      stack: "decoder",
      step,
      layer,
      queries: 1,
      keys: 3 + step,
      query_start: 2 + step,
    }),
  ),
);

const at = (index: number, maps = whole) => maps[index]!.place;

function store(maps: typeof whole, first: Partial<LinkedSelection> = {}) {
  return createSelection(
    { ...nothingSelected, ...first },
    fitTo(invent({ change: { maps } }).source.description),
  );
}

describe("families, layers, steps", () => {
  test("are those of the recording", () => {
    expect(familiesOf(whole)).toEqual([
      { stack: "encoder", kind: "self" },
      { stack: "decoder", kind: "self" },
      { stack: "decoder", kind: "cross" },
    ]);
    expect(layersOf(whole, whole[3]!.place)).toEqual([0, 1]);
    expect(stepsOf(steps, steps[0]!.place)).toEqual([0, 1, 2]);
    expect(stepsOf(whole, whole[0]!.place)).toEqual([]);
  });

  test("the nearest map keeps the step before the layer", () => {
    expect(findMap(whole, { stack: "decoder", kind: "cross", layer: 7, step: null })?.place.address).toBe(
      "decoder.cross.1",
    );
    expect(findMap(steps, { stack: "decoder", kind: "self", layer: 1, step: 2 })?.place.address).toBe(
      "decoder.self.1@2",
    );
    expect(findMap(steps, { stack: "decoder", kind: "self", layer: 0, step: 9 })?.place.address).toBe(
      "decoder.self.0@2",
    );
    expect(findMap(whole, { stack: "encoder", kind: "cross", layer: 0, step: null })).toBeUndefined();
  });
});

describe("a selection fits its recording", () => {
  test("maps and heads are clamped, tokens that are not there let go", () => {
    const chosen = store(whole);
    chosen.set({ place: { ...at(4), layer: 99 }, head: 99, query: 8, key: 6 });
    expect(chosen.get()).toMatchObject({ place: at(4), head: 3, query: 8, key: null });
    chosen.set({ place: at(3) });
    expect(chosen.get()).toMatchObject({ place: at(3), head: 1, query: 8 });
    chosen.set({ head: "model" });
    expect(chosen.get().head).toBe("model");
  });

  test("a token is let go when the axis shows the other side", () => {
    const chosen = store(whole);
    chosen.set({ query: 2, key: 3 });
    chosen.set({ place: at(3) });
    expect(chosen.get()).toMatchObject({ place: at(3), query: null, key: 3 });
    chosen.set({ place: at(0), query: 1 });
    expect(chosen.get()).toMatchObject({ place: at(0), query: 1, key: 3 });
  });

  test("without generation, the step is the token in focus", () => {
    const chosen = store(whole);
    chosen.set({ step: 4 });
    expect(chosen.get()).toMatchObject({ step: 4, query: 4 });
    chosen.set({ query: 2 });
    expect(chosen.get()).toMatchObject({ step: 2, query: 2 });
    chosen.set({ query: null });
    expect(chosen.get().step).toBeNull();
    chosen.set({ step: 77 });
    expect(chosen.get()).toMatchObject({ step: null, query: null });
  });

  test("with generation, a step is another map of the same layer", () => {
    const chosen = store(steps);
    chosen.set({ place: at(1, steps) });
    expect(chosen.get()).toMatchObject({ step: 0, query: 2 });
    chosen.set({ step: 2 });
    expect(chosen.get()).toMatchObject({ place: at(5, steps), step: 2, query: 4 });
    chosen.set({ step: 99 });
    expect(chosen.get()).toMatchObject({ place: at(5, steps), step: 2 });
  });

  test("a recording without maps keeps its view and options", () => {
    const chosen = store([]);
    chosen.set({ view: "encoder", place: at(3), query: 1, options: { "a.b": "c" } });
    expect(chosen.get()).toMatchObject({
      view: "encoder",
      place: null,
      query: null,
      options: { "a.b": "c" },
    });
  });

  test("an old link names a map by its index", () => {
    const chosen = store(whole, { ...readSelection("map=3&query=8") });
    chosen.set({ head: 1 });
    expect(chosen.get()).toEqual({ ...nothingSelected, place: at(3), head: 1, query: 8, step: 8 });
    chosen.set({ ...readSelection("map=99") });
    expect(chosen.get().place).toEqual(at(4));
  });

  test("a place that another recording has not becomes the nearest", () => {
    const chosen = store(whole);
    chosen.set({ place: { stack: "decoder", kind: "cross", layer: 7, step: 2 } });
    expect(chosen.get().place).toEqual(at(4));
    chosen.set({ place: { stack: "other", kind: "self", layer: 7, step: null } });
    expect(chosen.get().place).toEqual(at(0));
  });
});
