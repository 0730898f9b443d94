import { describe, expect, test } from "vitest";
import type { JobRequest, ModelDescription, Preset } from "../api/types";
import { said } from "../testing/recording";
import { emptyForm, missing, presetRequest, requestOf, swapLanguages, withModel, withRequest } from "./form";
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
  needs: null,
  samples: {},
  title: null,
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
