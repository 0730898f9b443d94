import { describe, expect, test } from "vitest";
import type { ModelDescription } from "../api/types";
import { emptyForm, type Form } from "./form";
import { findMisfit, scriptOf } from "./languages";

const describeModel = (pivot: string | null, ...languages: string[]): ModelDescription =>
  ({ shape: "encoder-decoder", languages, pivot_language: pivot }) as unknown as ModelDescription;
const translator = describeModel("en", "en", "de", "fr", "zh");
const recurrent = describeModel(null, "en", "fr");
const many = describeModel(null, "fr", "zh", "de");

function form(way: string, text: string, more: Partial<Form> = {}): Form {
  const [sourceLanguage = "", targetLanguage = ""] = way.split(" ");
  return { ...emptyForm, task: "translation", text, sourceLanguage, targetLanguage, ...more };
}

describe("the script of a text", () => {
  test.each([
    ["我爱你。", "Han"],
    ["我用 Python 写程序", "Han"],
    ["I love you", "Latn"],
    ["Où est l’été ?", "Latn"],
    ["The word 步 is Chinese", null],
    ["東京へ行く", null],
    ["1, 2, 3 …", null],
    ["", null],
  ])("%s", (text, script) => {
    expect(scriptOf(text)).toBe(script);
  });
});

describe("what does not fit", () => {
  test.each([
    ["en fr", "我爱你。", "chinese", "zh en"],
    ["en zh", "我爱你。", "chinese", "zh en"],
    ["fr de", "我爱你。", "chinese", "zh en"],
    ["zh en", "I love you.", "not-chinese", "en zh"],
    ["zh fr", "I love you.", "not-chinese", "en fr"],
    ["zh fr", "我爱你。", "untrained", "zh en"],
    ["fr de", "Je t’aime.", "untrained", "fr en"],
  ])("%s with “%s”", (way, text, what, better) => {
    const misfit = findMisfit(form(way, text), translator);
    expect(misfit?.what).toBe(what);
    expect(`${misfit?.better?.sourceLanguage} ${misfit?.better?.targetLanguage}`).toBe(better);
    const chosen = form(better, text);
    expect(findMisfit(chosen, translator)).toBeNull(); // whoever follows it is done
  });

  test("a model without Chinese has nothing better to offer", () => {
    expect(findMisfit(form("en fr", "我爱你。"), recurrent)).toEqual({ what: "unknown", better: null });
  });

  test("nothing is said where it fits, or where nobody can know", () => {
    expect(findMisfit(form("en fr", "I love you."), translator)).toBeNull();
    expect(findMisfit(form("zh en", "我爱你。"), translator)).toBeNull();
    expect(findMisfit(form("en fr", ""), translator)).toBeNull();
    expect(findMisfit(form("fr de", "Je t’aime."), many)).toBeNull(); // not known to be limited
    expect(findMisfit(form("en fr", "我爱你。", { sequence: "random" }), translator)).toBeNull();
    expect(findMisfit(form("en fr", "我爱你。"), { ...translator, shape: "encoder" })).toBeNull();
    expect(findMisfit(form("en fr", "我爱你。"), undefined)).toBeNull();
  });
});
