import { describe, expect, test } from "vitest";
import { Refusal } from "../core/source";
import { speaking } from "./speaking";

const refusal = new Refusal("There is no head 9.", "no_head", 422, "没有第 9 头。");

const evidence = {
  model: "m",
  kernel: "explicit",
  line: "m · exact",
  zh: { kernel: "显式", line: "m · 精确" },
};
const part = { values: [1, null], why: [null, "There is no key."], zh: { why: [null, "没有键。"] } };

const source = {
  description: { id: "r", evidence },
  score: () => Promise.resolve({ metric: "entropy", parts: [part, { values: [2], why: [null], zh: null }] }),
  weights: (head: number) => (head < 9 ? Promise.resolve(head) : Promise.reject(refusal)),
  link: () => "here",
  fail: () => Promise.reject(new DOMException("No longer wanted.", "AbortError")),
};

describe("a source that speaks the page's language", () => {
  test("refuses in that language, and answers as before", async () => {
    const chinese = speaking(source, "zh");
    await expect(chinese.weights(9)).rejects.toMatchObject({ sentence: "没有第 9 头。", code: "no_head" });
    await expect(chinese.weights(3)).resolves.toBe(3);
    expect([chinese.link(), chinese.description.id]).toEqual(["here", "r"]);
    await expect(chinese.fail()).rejects.toMatchObject({ name: "AbortError" });
    expect(speaking(source, "zh")).toBe(chinese);
  });

  test("says how numbers came about, and why there are none, in that language", async () => {
    const chinese = speaking(source, "zh");
    expect(chinese.description.evidence).toMatchObject({ model: "m", kernel: "显式", line: "m · 精确" });
    expect(chinese.description).toBe(chinese.description);
    const { metric, parts } = await chinese.score();
    expect(metric).toBe("entropy");
    expect(parts.map(({ values, why }) => [values, why])).toEqual([
      [
        [1, null],
        [null, "没有键。"],
      ],
      [[2], [null]],
    ]);
  });

  test("in English it is itself", async () => {
    expect(speaking(source, "en")).toBe(source);
    await expect(source.weights(9)).rejects.toMatchObject({ sentence: "There is no head 9." });
  });
});
