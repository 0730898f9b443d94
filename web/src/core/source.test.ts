import { expect, test } from "vitest";
import { formatText } from "./messages";
import { errorText, Refusal } from "./source";

test("an error is said in the reader's language, whatever it is", () => {
  const refused = new Refusal((language) => (language === "zh" ? "没有" : "There is none."), "none", 404);
  const said = (error: unknown): string[] => ["en", "zh"].map((each) => formatText(errorText(error), each));
  expect(said(refused)).toEqual(["There is none.", "没有"]);
  expect(said(new TypeError("x is null"))).toEqual(["Unexpected error: x is null", "页面出错：x is null"]);
  expect(said(new RangeError())).toEqual(["Unexpected error: RangeError", "页面出错：RangeError"]);
});
