import { expect, test } from "vitest";
import { words } from "./words";

test("words are put together once, until another language is spoken", () => {
  const english = words("en");
  expect(words("en")).toBe(english);
  const chinese = words("zh");
  expect(Object.keys(chinese).sort()).toEqual(Object.keys(english).sort());
  expect(chinese.back).not.toBe(english.back);
  expect(words("en")).toEqual(english);
});
