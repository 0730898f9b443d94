import { describe, expect, test } from "vitest";
import type { JobRequest, ModelDescription, Preset } from "../api/types";
import { said } from "../testing/recording";
import {
  emptyForm,
  missing,
  presetRequest,
  requestOf,
  samplesOf,
  swapLanguages,
  withModel,
  withRequest,
} from "./form";
import { words } from "./words";

const translator: ModelDescription = {
  name: "zoo/translator",
  label: "Translator",
  family: "glassformer",
  shape: "encoder-decoder",
  tasks: { translation: said("Translation") },
  layers: 6,
  heads: 8,
  width: 512,
  vocabulary: 8000,
  languages: ["en", "zh"],
  max_tokens: 128,
  parameters: 1e7,
  origin: "zoo",
  note: null,
  decoder_layers: 6,
  pivot_language: null,
  one_pair: false,
  title: null,
  needs: null,
  reads: "text",
  drawing: null,
  head: null,
  sample_rate: null,
  max_seconds: null,
  samples: { en: ["One.", "Two."], zh: ["一。"] },
};
const recurrent: ModelDescription = {
  ...translator,
  name: "zoo/recurrent",
  languages: ["en", "fr"],
  one_pair: true,
  samples: { en: ["One."] },
};

describe("the form", () => {
  test("sends only what means something", () => {
    const form = {
      ...emptyForm,
      model: " gpt2 ",
      task: "language_modelling",
      text: "Hi",
      target: "no",
      sourceLanguage: "en",
    };
    const decoder: ModelDescription = { ...translator, shape: "decoder" };
    expect(requestOf(form, decoder)).toEqual({
      kind: "record",
      model: "gpt2",
      task: "language_modelling",
      sequence: "text",
      text: "Hi",
    });
    expect(requestOf({ ...form, sequence: "random", length: 12, seed: 5 }, decoder)).toEqual({
      kind: "record",
      model: "gpt2",
      task: "language_modelling",
      sequence: "random",
      length: 12,
      seed: 5,
    });
    expect(
      requestOf(
        {
          ...form,
          task: "translation",
          targetLanguage: "zh",
          layers: 2,
          keep: ["weights"],
          secondText: "no",
        },
        translator,
      ),
    ).toMatchObject({
      target: "no",
      source_language: "en",
      target_language: "zh",
      layers: 2,
      want: ["weights"],
    });
  });

  test("says what is missing", () => {
    const say = words("en");
    expect(missing({ ...emptyForm, model: "  " }, say)).toBe(say.needModel);
    expect(missing({ ...emptyForm, model: "m", text: " " }, say)).toBe(say.needText);
    expect(missing({ ...emptyForm, model: "m", text: "", sequence: "random" }, say)).toBeNull();
  });

  test("the seed goes with random tokens, the number with a sample, the length with every sequence", () => {
    const form = { ...emptyForm, model: "m", seed: 7, sample: 3 };
    const sent = (change: object) => {
      const { seed, length } = requestOf({ ...form, ...change });
      return [seed, length];
    };
    expect(sent({ sequence: "text" })).toEqual([undefined, undefined]);
    expect(sent({ sequence: "text", length: 5 })).toEqual([undefined, 5]);
    expect(sent({ sequence: "task" })).toEqual([3, undefined]);
    expect(sent({ sequence: "task", length: 5 })).toEqual([3, 5]);
    expect(sent({ sequence: "random" })).toEqual([7, 16]);
    const again = withRequest(emptyForm, { kind: "record", model: "m", sequence: "task", seed: 3 });
    expect([again.sample, again.seed]).toEqual([3, 0]);
  });

  test("to continue a text is to generate", () => {
    expect(requestOf({ ...emptyForm, task: "generation" }).kind).toBe("generate");
    expect(requestOf({ ...emptyForm, task: "language_modelling" }).kind).toBe("record");
  });

  test("samples are those of the source language; a model without any reads an own text", () => {
    const form = withModel({ ...emptyForm, sequence: "task" }, translator);
    expect(samplesOf(form, translator)).toEqual(["One.", "Two."]);
    expect(samplesOf({ ...form, sourceLanguage: "zh" }, translator)).toEqual(["一。"]);
    expect(samplesOf(form, undefined)).toEqual([]);
    expect(withModel(form, { ...translator, samples: {} }).sequence).toBe("text");
  });

  test("a translator of one pair has no other languages", () => {
    const form = withModel({ ...emptyForm, sourceLanguage: "fr", targetLanguage: "en" }, recurrent);
    expect([form.sourceLanguage, form.targetLanguage]).toEqual(["en", "fr"]);
  });

  test("another model brings its task and languages", () => {
    const form = withModel({ ...emptyForm, task: "classification", layers: 9 }, translator);
    expect(form).toMatchObject({
      task: "translation",
      sourceLanguage: "en",
      targetLanguage: "zh",
      layers: null,
    });
    expect(withModel({ ...form, sourceLanguage: "zh", targetLanguage: "en" }, translator)).toMatchObject({
      sourceLanguage: "zh",
      targetLanguage: "en",
    });
    expect(
      withModel({ ...form, sourceLanguage: "zh", targetLanguage: "zh" }, translator).targetLanguage,
    ).toBe("en");
  });

  test("swapping languages swaps the texts, where there are two", () => {
    const form = {
      ...emptyForm,
      text: "我爱你",
      target: "I love you",
      sourceLanguage: "zh",
      targetLanguage: "en",
    };
    expect(swapLanguages(form)).toMatchObject({
      text: "I love you",
      target: "我爱你",
      sourceLanguage: "en",
      targetLanguage: "zh",
    });
    expect(swapLanguages({ ...form, target: "" }).text).toBe("我爱你");
  });

  test("a preset asks for what it shows, and a request fills the form again", () => {
    const preset: Preset = {
      id: "tom",
      title: said(""),
      point: said(""),
      model: "zoo/translator",
      task: "translation",
      text: "Tom chase Jerry",
      target: "汤姆追逐杰瑞",
      source_language: "en",
      target_language: "zh",
      second_text: null,
      selection: null,
      also: [],
      recording: null,
    };
    const request = presetRequest(preset);
    expect(request).toEqual({
      kind: "record",
      model: "zoo/translator",
      task: "translation",
      sequence: "text",
      text: "Tom chase Jerry",
      target: "汤姆追逐杰瑞",
      source_language: "en",
      target_language: "zh",
    });
    expect(requestOf(withRequest(emptyForm, request))).toEqual(request);
  });

  test("task and languages of one model are not sent to another, whose description is not known yet", () => {
    const translation = { ...emptyForm, model: "a", task: "translation" };
    const form = { ...translation, sourceLanguage: "en", targetLanguage: "fr" };
    const request: JobRequest = { kind: "record", model: "b", sequence: "text", text: "A film." };
    expect(requestOf(withRequest(form, request))).toEqual(request);
    expect(withRequest(form, { ...request, model: "a" })).toMatchObject({
      task: "translation",
      sourceLanguage: "en",
      targetLanguage: "fr",
    });
  });
});

describe("a model that looks or listens", () => {
  const looks: ModelDescription = { ...translator, name: "p", reads: "picture" };
  const say = words("en");
  const file = new File(["x"], "x.png");

  test("needs a file, or a recording that has one", () => {
    const form = { ...emptyForm, model: "p" };
    expect(missing(form, say, looks)).toBe(say.needPicture);
    expect(missing(form, say, { ...looks, reads: "sound" })).toBe(say.needSound);
    expect(missing({ ...form, file }, say, looks)).toBeNull();
    expect(missing({ ...form, mediaOf: "r" }, say, looks)).toBeNull();
  });

  test("is sent no text, and the language that is written alone", () => {
    const form = withModel({ ...emptyForm, text: "a text", secondText: "b", target: "c" }, looks);
    const request = requestOf({ ...form, mediaOf: "r" }, looks);
    expect(request).toEqual({
      kind: "record",
      model: "p",
      sequence: "media",
      task: "translation",
      media_of: "r",
      target_language: form.targetLanguage,
    });
    expect(requestOf({ ...form, file, mediaOf: "r" }, looks)).not.toHaveProperty("media_of");
  });

  test("writes captions in the language of the page where the model knows it", () => {
    const captions = { ...looks, languages: ["de", "en", "zh"] };
    expect(withModel(emptyForm, captions, "zh").targetLanguage).toBe("zh");
    expect(withModel(emptyForm, captions, "fr").targetLanguage).toBe("de");
  });

  test("leaves neither its file nor its recording to a model of texts", () => {
    const next = withModel({ ...emptyForm, model: "p", file, mediaOf: "r" }, translator);
    expect([next.file, next.mediaOf]).toEqual([null, null]);
  });

  test("looks again at what a recording was made from", () => {
    const request = { kind: "record", model: "p", sequence: "media", media_of: "r" } as const;
    const form = withRequest({ ...emptyForm, file }, request);
    expect([form.file, form.mediaOf]).toEqual([null, "r"]);
    expect(requestOf(form, looks)).toMatchObject({ sequence: "media", media_of: "r" });
  });
});
