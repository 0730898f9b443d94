import { expect, test } from "vitest";
import { makeMap } from "../testing/recording";
import { readingOf, readingOfMap, rowSideOf } from "./reading";
import { nothingSelected, readSelection, writeSelection } from "./selection";

const cross = makeMap(0, { kind: "cross", query_side: "target", row_side: "written", key_side: "source" });
const own = makeMap(0, { query_side: "target", row_side: "target", key_side: "target" });
const entered = { ...nothingSelected, options: { "map.reading": "entered" } };

test("rows of cross-attention are named by the word written, or by the word entered", () => {
  expect(rowSideOf(cross, nothingSelected)).toBe("written");
  expect(rowSideOf(cross, entered)).toBe("target");
  expect([readingOfMap(cross, nothingSelected), readingOfMap(cross, entered)]).toEqual([
    "written",
    "entered",
  ]);
});

test("rows of self-attention have one name", () => {
  for (const selection of [nothingSelected, entered]) {
    expect(rowSideOf(own, selection)).toBe("target");
    expect(readingOfMap(own, selection)).toBeNull();
  }
});

test("a link keeps the reading; an old one, or a wrong one, has the usual", () => {
  const read = (link: string) => readingOf({ ...nothingSelected, ...readSelection(link) });
  expect(read(writeSelection(entered))).toBe("entered");
  expect(read("recording=a&view=heatmap&place=decoder.cross.0&query=1")).toBe("written");
  expect(read("map.reading=sideways")).toBe("written");
});
