import { expect, test } from "vitest";
import { moveInCircle, moveInList } from "./keys";

test.each([
  ["ArrowDown", "down", 4],
  ["ArrowUp", "down", 2],
  ["ArrowRight", "down", undefined],
  ["ArrowRight", "across", 4],
  ["ArrowDown", "across", undefined],
  ["ArrowLeft", "both", 2],
  ["ArrowDown", "both", 4],
  ["PageDown", "down", 5],
  ["PageUp", "down", 1],
  ["PageUp", "across", undefined],
  ["Home", "across", 0],
  ["End", "both", 5],
  ["x", "down", undefined],
] as const)("from place 3 of 6, %s in a list that goes %s leads to %s", (key, way, to) => {
  expect(moveInList(key, 3, 6, way, 2)).toBe(to);
});

test("a list has ends", () => {
  expect(moveInList("ArrowDown", 5, 6, "down")).toBe(5);
  expect(moveInList("ArrowLeft", 0, 6, "across")).toBe(0);
  expect(moveInList("ArrowDown", -1, 6, "both")).toBe(0);
  expect(moveInList("End", -1, 0, "both")).toBeUndefined(); // nothing is there
});

test("the ends of a circle meet", () => {
  expect(moveInCircle("ArrowRight", 5, 6, "across")).toBe(0);
  expect(moveInCircle("ArrowUp", 0, 6, "both")).toBe(5);
  expect(moveInCircle("ArrowUp", 0, 6, "across")).toBeUndefined();
  expect(moveInCircle("End", 2, 6, "across")).toBe(5);
  expect(moveInCircle("ArrowRight", -1, 0, "both")).toBeUndefined();
});
