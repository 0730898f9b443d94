import { expect, test } from "vitest";
import { colourScale, drawColourBar } from "./cells";
import { inks } from "./paper";

function namesOf(reach: readonly [number, number], log = false): (string | null)[] {
  const bar = drawColourBar(colourScale(reach, "sequential", log, "light"), 200, inks("light"));
  return [...bar.querySelectorAll("text")].map((text) => text.textContent);
}

test("a colour bar names its ends and its middle", () => {
  expect(namesOf([0, 2])).toEqual(["0", "1", "2"]);
  expect(namesOf([0.01, 1], true)).toEqual(["0.01", "0.1", "1"]);
});

test("where all values are one, it names that one and invents none", () => {
  expect(namesOf([0, 0])).toEqual(["0"]);
  expect(namesOf([-3, -3])).toEqual(["−3"]);
});
