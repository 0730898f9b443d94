/**
 * How to write: the form behind "Predict output words", and what the model says while it works.
 *
 * In:   what kind of output the model has; a rerunner that runs it.
 * Out:  a DecodeRequest when sent; progress, and a way to stop.
 */

import type { DecodeRequest, Job } from "../../api/types";
import { make, type Text } from "../../marks/make";
import type { Words } from "./words";

export type Predicts = "words" | "masks" | "classes";
type Method = DecodeRequest["method"];

/** What stands in the fields, also where it is not a number yet. */
export type DecodingText = Readonly<Record<string, string>>;

export interface DecodingOptions {
  readonly word: Words;
  readonly predicts: Predicts;
  send(decode: DecodeRequest | null): void;
  cancel(): void;
}

/** Fields by their names in the request; `only`: the one method that reads it. */
const FIELDS = {
  max_new_tokens: { label: "count", only: "", value: 20, min: 1, max: 500, step: 1 },
  beams: { label: "beams", only: "beam", value: 4, min: 2, max: 16, step: 1 },
  temperature: { label: "temperature", only: "sampling", value: 1, min: 0.05, max: 5, step: "any" },
  top_k: { label: "topK", only: "sampling", value: 50, min: 0, max: 1000, step: 1 }, // 0: all words
  top_p: { label: "topP", only: "sampling", value: 1, min: 0.01, max: 1, step: "any" },
  seed: { label: "seed", only: "sampling", value: 0, min: 0, max: 2 ** 31, step: 1 },
} as const;

export class Decoding {
  readonly element: HTMLFormElement;
  private readonly method: HTMLSelectElement;
  private readonly fields = new Map<string, HTMLInputElement>();
  private readonly submit: HTMLButtonElement;
  private readonly stop: HTMLButtonElement;
  private readonly progress = make("progress", { class: "decoding-progress", max: 1, hidden: true });
  private readonly said = make("span", { class: "decoding-said", role: "status" });

  constructor(private readonly options: DecodingOptions) {
    const { word, predicts } = options;
    const choice = (method: Method) => make("option", { value: method }, () => word[method]);
    this.method = make(
      "select",
      { name: "method", onchange: () => this.arrange() },
      choice("greedy"),
      choice("sampling"),
      choice("beam"),
    );
    const labelled = (text: Text, input: HTMLElement, only: string) =>
      make("label", { class: "decoding-field", "data-only": only }, make("span", {}, text), input);
    const fields = Object.entries(FIELDS).map(([name, { label, only, ...bounds }]) => {
      const input = make("input", { type: "number", name, required: true, ...bounds });
      this.fields.set(name, input);
      return labelled(() => word[label], input, only);
    });
    this.submit = make("button", { type: "submit", class: "button primary" }, () =>
      predicts === "words" ? word.predict : predicts === "masks" ? word.predictMask : word.predictClass,
    );
    this.stop = make(
      "button",
      { type: "button", class: "button", hidden: true, onclick: () => options.cancel() },
      () => word.cancel,
    );
    this.element = make(
      "form",
      { class: "decoding", onsubmit: (event: Event) => this.send(event) },
      ...(predicts === "words" ? [labelled(() => word.method, this.method, ""), ...fields] : []),
      this.submit,
      this.stop,
      this.progress,
      this.said,
    );
    this.arrange();
  }

  /** Set fields as something was written before, or as they stood; what is not said stays. */
  fill(values: Readonly<Record<string, string | number | null | undefined>>): void {
    for (const [name, field] of [...this.fields, ["method", this.method] as const])
      field.value = String(values[name] ?? field.value);
    this.arrange();
  }

  texts(): DecodingText {
    const fields = [...this.fields].map(([name, field]) => [name, field.value]);
    return { ...Object.fromEntries(fields), method: this.method.value };
  }

  /** What the fields say; null where nothing is written. */
  read(): DecodeRequest | null {
    if (this.options.predicts !== "words") return null;
    const used = [...this.fields].filter(([, { disabled }]) => !disabled);
    const numbers = used.map(([name, field]) => [name, field.valueAsNumber] as const);
    const said = numbers.filter(([name, value]) => name !== "top_k" || value > 0);
    return { method: this.method.value as Method, ...Object.fromEntries(said) };
  }

  setBusy(busy: boolean): void {
    this.submit.disabled = busy;
    this.stop.hidden = !busy;
    this.progress.hidden = !busy;
    if (busy) this.progress.removeAttribute("value");
  }

  tell(job: Job): void {
    const { word } = this.options;
    this.say(() => (job.detail ? `${word[job.stage]} · ${job.detail}` : word[job.stage]));
    if (job.share === null) this.progress.removeAttribute("value");
    else this.progress.value = job.share;
  }

  say(sentence: Text): void {
    this.said.replaceChildren(...make("span", {}, sentence).childNodes);
  }

  private send(event: Event): void {
    event.preventDefault();
    if (this.element.reportValidity()) this.options.send(this.read());
  }

  private arrange(): void {
    for (const label of this.element.querySelectorAll<HTMLElement>("[data-only]")) {
      const only = label.dataset.only;
      label.hidden = only !== "" && only !== this.method.value;
      for (const input of label.querySelectorAll("input")) input.disabled = label.hidden;
    }
  }
}
