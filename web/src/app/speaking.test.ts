import { describe, expect, test } from "vitest";
import { Refusal } from "../source";
import { speaking } from "./speaking";

const refusal = new Refusal("There is no head 9.", "no_head", 422, "没有第 9 头。");

const source = {
  description: { id: "r" },
  weights: (head: number) => (head < 9 ? Promise.resolve(head) : Promise.reject(refusal)),
  link: () => "here",
  fail: () => Promise.reject(new DOMException("No longer wanted.", "AbortError")),
};

describe("a source that speaks the page's language", () => {
  test("refuses in that language, and answers as before", async () => {
    const chinese = speaking(source, "zh");
    await expect(chinese.weights(9)).rejects.toMatchObject({ sentence: "没有第 9 头。", code: "no_head" });
    await expect(chinese.weights(3)).resolves.toBe(3);
    expect([chinese.link(), chinese.description]).toEqual(["here", source.description]);
    await expect(chinese.fail()).rejects.toMatchObject({ name: "AbortError" });
    expect(speaking(source, "zh")).toBe(chinese);
  });

  test("in English it is itself", async () => {
    expect(speaking(source, "en")).toBe(source);
    await expect(source.weights(9)).rejects.toMatchObject({ sentence: "There is no head 9." });
  });
});
