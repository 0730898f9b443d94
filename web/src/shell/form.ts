/**
 * What a person fills in to run a model, and the request that it makes.
 *
 * In:   fields, presets, models.
 * Out:  a JobRequest, or the word for what is missing.
 */

import type { JobRequest, ModelDescription, Preset } from "../api/types";
import { type LinkedSelection, readSelection } from "../core/selection";
import type { AppWords } from "./words";

export type Sequence = JobRequest["sequence"];
export const RANDOM_LENGTH = 16; // tokens, where nothing else is said
export const wants = ["weights", "output", "hidden", "queries", "keys", "values", "scores"] as const;
export type Want = (typeof wants)[number];

export interface Form {
  readonly model: string;
  readonly other: boolean; // the model's name is typed, not chosen
  readonly task: string;
  readonly sequence: Sequence;
  readonly text: string;
  readonly secondText: string;
  readonly target: string;
  readonly length: number | null; // at most so many tokens; null: the whole text
  readonly seed: number; // of a random sequence
  readonly sample: number; // of the task, counted on: beyond the last comes the first
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  readonly layers: number | null; // null: all of them
  readonly keep: readonly Want[] | null; // null: what fits the length
  readonly file: File | null; // a picture or a sound
  readonly mediaOf: string | null; // the recording whose picture or sound is read where there is no file
}

export const emptyForm: Form = {
  model: "",
  other: false,
  task: "",
  sequence: "text",
  text: "The animal didn't cross the street because it was too tired.",
  secondText: "",
  target: "",
  length: null,
  seed: 0,
  sample: 0,
  sourceLanguage: "",
  targetLanguage: "",
  layers: null,
  keep: null,
  file: null,
  mediaOf: null,
};

/** Another model: its first task and its languages, unless those chosen still do; captions in the page's language. */
export function withModel(form: Form, model: ModelDescription, language = "en"): Form {
  const { tasks, languages } = model;
  const source = languages.includes(form.sourceLanguage) ? form.sourceLanguage : (languages[0] ?? "");
  const others = languages.filter((each) => each !== source);
  const next: Form = {
    ...form,
    model: model.name,
    other: false,
    task: form.task in tasks ? form.task : (Object.keys(tasks)[0] ?? ""),
    sourceLanguage: source,
    targetLanguage: others.includes(form.targetLanguage) ? form.targetLanguage : (others[0] ?? ""),
    layers: form.layers !== null && model.layers !== null && form.layers < model.layers ? form.layers : null,
    file: null,
    mediaOf: null,
    ...(model.one_pair ? { sourceLanguage: languages[0]!, targetLanguage: languages.at(-1)! } : {}),
  };
  if (perceives(model)) {
    const targetLanguage = languages.includes(language) ? language : (languages[0] ?? "");
    return { ...next, targetLanguage };
  }
  const none = next.sequence === "task" && samplesOf(next, model).length === 0;
  return none ? { ...next, sequence: "text" } : next;
}

/** The texts for a model's task in the language that is translated from; none where nothing is known of the model. */
export function samplesOf(form: Form, model: ModelDescription | undefined): readonly string[] {
  return model?.samples[form.sourceLanguage || "en"] ?? [];
}

export function withPreset(form: Form, preset: Preset): Form {
  const looksAgain = preset.text === "" && preset.recording; // its picture or sound is in the recording
  const read = looksAgain
    ? ({ sequence: "media", text: null, media_of: preset.recording } as const)
    : ({ sequence: "text" } as const);
  return withRequest(form, { ...preset, kind: "record", ...read });
}

export function withRequest(form: Form, request: JobRequest): Form {
  const { task, sourceLanguage, targetLanguage } = request.model === form.model ? form : emptyForm; // of this model
  return {
    ...form,
    model: request.model,
    other: false,
    task: request.task ?? task,
    sequence: request.sequence === "media" ? form.sequence : request.sequence,
    file: null,
    mediaOf: request.media_of ?? null,
    text: request.text ?? form.text,
    secondText: request.second_text ?? "",
    target: request.target ?? "",
    length: request.length ?? null,
    seed: (request.sequence === "random" && request.seed) || form.seed,
    sample: (request.sequence === "task" && request.seed) || form.sample,
    sourceLanguage: request.source_language ?? sourceLanguage,
    targetLanguage: request.target_language ?? targetLanguage,
    layers: request.layers ?? null,
  };
}

export function swapLanguages(form: Form): Form {
  return {
    ...form,
    sourceLanguage: form.targetLanguage,
    targetLanguage: form.sourceLanguage,
    ...(form.target === "" ? {} : { text: form.target, target: form.text }),
  };
}

/** Whether a model reads one text and writes another. */
export function translates(model: ModelDescription | undefined): boolean {
  return model?.shape === "encoder-decoder";
}

type Perceiving = ModelDescription & { readonly reads: "picture" | "sound" };

/** Whether a model looks at pictures or listens to sounds. */
export function perceives(model: ModelDescription | undefined): model is Perceiving {
  return model !== undefined && model.reads !== "text";
}

/** Whether a model may read two sentences at once, as BERT's kind does. */
export function readsPairs(model: ModelDescription | undefined): boolean {
  return !model || model.shape === "encoder";
}

export function presetRequest(preset: Preset): JobRequest {
  return requestOf(withPreset(emptyForm, preset));
}

/** What is missing before the model can run; null when nothing is. */
export function missing(form: Form, say: AppWords, model?: ModelDescription): string | null {
  if (form.model.trim() === "") return say.needModel;
  if (perceives(model))
    return form.file || form.mediaOf ? null : model.reads === "sound" ? say.needSound : say.needPicture;
  if (form.sequence === "text" && form.text.trim() === "") return say.needText;
  return null;
}

/** Only fields that mean something for this sequence and model are sent: the server refuses the others. */
export function requestOf(form: Form, model?: ModelDescription): JobRequest {
  if (perceives(model) || (!model && form.mediaOf)) return mediaRequest(form, model);
  const text = form.sequence === "text";
  const translating = !model || translates(model);
  const length = form.sequence === "random" ? (form.length ?? RANDOM_LENGTH) : form.length;
  return {
    kind: form.task === "generation" ? "generate" : "record",
    model: form.model.trim(),
    sequence: form.sequence,
    ...(form.task ? { task: form.task } : {}),
    ...(text ? { text: form.text } : {}),
    ...(text && readsPairs(model) && form.secondText.trim() ? { second_text: form.secondText } : {}),
    ...(text && translating && form.target.trim() ? { target: form.target } : {}),
    ...(length === null ? {} : { length }),
    ...(text ? {} : { seed: form.sequence === "random" ? form.seed : form.sample }),
    ...(translating && form.sourceLanguage ? { source_language: form.sourceLanguage } : {}),
    ...(translating && form.targetLanguage ? { target_language: form.targetLanguage } : {}),
    ...(form.layers === null ? {} : { layers: form.layers }),
    ...(form.keep === null ? {} : { want: form.keep }),
  };
}

/** A file is sent first, and named afterwards. */
function mediaRequest(form: Form, model: ModelDescription | undefined): JobRequest {
  const tagged = translates(model) && form.targetLanguage !== "";
  return {
    kind: "record",
    model: form.model.trim(),
    sequence: "media",
    ...(form.task ? { task: form.task } : {}),
    ...(form.file || !form.mediaOf ? {} : { media_of: form.mediaOf }),
    ...(tagged ? { target_language: form.targetLanguage } : {}),
    ...(form.layers === null ? {} : { layers: form.layers }),
    ...(form.keep === null ? {} : { want: form.keep }),
  };
}

/** What an example wants to have selected. */
export function pickSelection({ selection }: Pick<Preset, "selection">): Partial<LinkedSelection> {
  return selection ? readSelection(new URLSearchParams(selection).toString()) : {};
}
