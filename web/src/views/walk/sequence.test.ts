// @vitest-environment happy-dom

import { expect, test } from "vitest";
import { plans } from "../../testing/plans";
import type { WalkContext } from "./context";
import { SequenceScene } from "./sequence";
import { words } from "./words";

function cost(name: string, change: object = {}) {
  const plan = plans[name]!;
  const architecture = { ...plan.architecture, ...change };
  const tokens = { source: { ids: [5, 6, 7, 3] } };
  const context = { stage: { theme: "light" }, say: words("en"), plan: { ...plan, architecture }, tokens };
  return new SequenceScene(context as unknown as WalkContext).table().rows.map((row) => row.slice(1));
}

test("what reading word by word costs is counted from the text and the network", () => {
  const width = plans.attention!.stacks[0]!.width!;
  expect(cost("attention")).toEqual([
    ["4", "1"],
    ["3", "1"],
    [words("en").manyStates(4, width), words("en").vectors(4)],
  ]);
  expect(cost("fixed")[2]![0]).toBe(words("en").oneVector(4, width));
});

test("a second layer waits: for the word below it, or where both directions are read for the whole text", () => {
  expect(cost("attention", { layers: 2, bidirectional: false })[0]![0]).toBe("5");
  expect(cost("attention", { layers: 2, bidirectional: true })[0]![0]).toBe("8");
});
