import { expect, test } from "vitest";
import type { StepDescription } from "../api/types";
import { makeMap } from "../testing/recording";
import {
  choicesOf,
  decodingOf,
  findFirst,
  findMasks,
  keptPath,
  mapOfStep,
  pathTo,
  probability,
  scoreText,
} from "./generation";

function node(index: number, token: number, parent: number | null = null, beam = 0): StepDescription {
  return {
    index,
    token,
    text: `w${token}`,
    log_probability: -0.5,
    alternatives: [],
    beam,
    parent,
    score: -1,
  };
}

test("the row that wrote word 0 is the one before it, with or without the end token", () => {
  expect(findFirst([9, 8, 5, 6, 7], [node(0, 5), node(1, 6), node(2, 7)])).toBe(1);
  expect(findFirst([2, 5, 6], [node(0, 5), node(1, 6), node(2, 3)])).toBe(0); // 3 ends the text and is not part of it
  expect(findFirst([1, 5, 6, 5, 6], [node(0, 5), node(1, 6)])).toBe(0);
  expect(findFirst([4, 4, 4, 4], [node(0, 4), node(1, 4), node(2, 4)])).toBe(0);
});

test("words that are not in the text have no row", () => {
  expect(findFirst([1, 2, 3], [node(0, 8), node(1, 9)])).toBeNull();
  expect(findFirst([], [node(0, 8)])).toBeNull();
});

test("paths through a tree", () => {
  const nodes = [node(0, 1), node(0, 2, null, 1), node(1, 3, 0), node(1, 3, 1, 1), node(2, 4, 3)];
  expect(pathTo(nodes, 4)).toEqual([1, 3, 4]);
  expect(keptPath(nodes, [node(0, 2), node(1, 3), node(2, 4)])).toEqual([1, 3, 4]);
  expect(keptPath(nodes, [node(0, 9)])).toEqual([]);
});

test("chances are ordered, and the word that came is among them", () => {
  const step = {
    ...node(0, 7),
    log_probability: -3,
    alternatives: [
      { token: 1, text: "a", log_probability: -2 },
      { token: 2, text: "b", log_probability: -1 },
    ],
  };
  expect(choicesOf(step).map((choice) => [choice.token, choice.chosen])).toEqual([
    [2, false],
    [1, false],
    [7, true],
  ]);
  expect(probability({ log_probability: null })).toBe(0);
  expect(scoreText({ score: null, log_probability: null }, 2)).toBe("−∞");
  expect(scoreText({ score: -1.234, log_probability: -0.5 }, 2)).toBe("−1.23");
  expect(probability({ log_probability: 1e-4 })).toBe(1);
});

test("the map of a step goes before the whole one; layers give way to the nearest", () => {
  const maps = [
    makeMap(0, { layer: 0 }),
    makeMap(1, { layer: 1 }),
    makeMap(2, { layer: 0, step: 4 }),
    makeMap(3, { layer: 0, kind: "cross" }),
    makeMap(4, { layer: 1, has_weights: false, step: 4 }),
  ];
  expect(mapOfStep(maps, { kind: "self", stack: "decoder", layer: 1, step: 4 })?.place.address).toBe(
    "decoder.self.0@4",
  );
  expect(mapOfStep(maps, { kind: "self", stack: "decoder", layer: 7, step: 0 })?.place.address).toBe(
    "decoder.self.1",
  );
  expect(mapOfStep(maps, { kind: "cross", stack: "decoder", layer: 7, step: 0 })?.place.address).toBe(
    "decoder.cross.0",
  );
  expect(mapOfStep(maps, { kind: "self", stack: "encoder", layer: 0, step: 0 })).toBeNull();
});

test("masks are found by how vocabularies write them", () => {
  const texts = ["[CLS]", "a", "[MASK]", "<mask>", "masked", "[SEP]"];
  expect(findMasks({ texts, special: texts.map(() => false), start: 10 })).toEqual([12, 13]);
});

test("the form says how the recording was written, asked for or not", () => {
  const steps = [node(0, 1)];
  const nodes = [node(0, 1), node(0, 2, null, 3)];
  const beams = { method: "beam", text: "", steps, nodes, forced: [] };
  expect(decodingOf(beams, undefined)).toEqual({ method: "beam", beams: 4 }); // as a translator does by itself
  expect(decodingOf(beams, { method: "beam", beams: 8 })).toEqual({ method: "beam", beams: 8 });
  expect(decodingOf({ ...beams, method: "sampling", nodes: [] }, null)).toEqual({ method: "sampling" });
  expect(decodingOf({ ...beams, method: "contrastive", nodes: [] }, null)).toBeNull();
  expect(decodingOf(null, { method: "sampling" })).toBeNull();
});
