import { describe, expect, test } from "vitest";
import { keepCatalogue, type Message } from "../core/messages";
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

describe("texts as messages", () => {
  const said = (code: string, parameters: Message["parameters"] = {}): Message => ({ code, parameters });
  const described = {
    description: {
      evidence: {
        ...evidence,
        messages: {
          kernel: said("evidence.explicit"),
          reference: null,
          edits: [said("evidence.ablated", { head: 3 })],
          notes: [],
          summary: [said("evidence.explicit"), said("evidence.ablated", { head: 3 })],
        },
      },
    },
    score: () =>
      Promise.resolve({
        parts: [{ ...part, undefined: [said("metrics.no_key")], zh: { why: ["old", "old"] } }],
      }),
    weights: () =>
      Promise.reject(new Refusal("No head 9.", "no_head", 422, "旧", said("api.no_head", { head: 9 }))),
  };

  test("are formatted with the catalogue of the page's language, where it has them", async () => {
    expect(speaking({ ...described }, "zh").description.evidence.line).toBe("m · 精确"); // no catalogue yet
    keepCatalogue("zh", {
      "evidence.explicit": "显式计算",
      "evidence.ablated": "关闭第 {head} 头",
      "metrics.no_key": "无键",
      "api.no_head": "没有 {head} 号头。",
    });
    const chinese = speaking(described, "zh");
    expect(chinese.description.evidence).toMatchObject({
      kernel: "显式计算",
      edits: ["关闭第 3 头"],
      line: "显式计算 · 关闭第 3 头",
    });
    expect((await chinese.score()).parts[0]!.why).toEqual([null, "无键"]);
    await expect(chinese.weights()).rejects.toMatchObject({ sentence: "没有 9 号头。" });
  });
});
