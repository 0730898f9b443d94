/**
 * How to write: the form behind "Predict output words", and what the model says while it works.
 *
 * In:   what kind of output the model has; a rerunner that runs it.
 * Out:  a DecodeRequest when sent; progress, and a way to stop.
 */

import type { DecodeRequest, Job } from "../../api/types";
import { make, type Text } from "../../marks/make";
import type { words } from "./words";

export type Predicts = "words" | "masks" | "classes";
type Method = DecodeRequest["method"];

/** What stands in the fields, also where it is not a number yet. */
export type DecodingText = Readonly<Record<string, string>>;

export interface DecodingOptions {
  readonly word: ReturnType<typeof words>;
  readonly predicts: Predicts;
  send(decode: DecodeRequest | null): void;
  cancel(): void;
}

export class Decoding {
  readonly element: HTMLFormElement;
  private readonly method: HTMLSelectElement;
  private readonly fields: Readonly<
    Record<"count" | "beams" | "temperature" | "topK" | "topP" | "seed", HTMLInputElement>
  >;
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
    const field = (name: string, value: number, least: number, most: number, step: number | "any" = 1) =>
      make("input", { type: "number", name, value, min: least, max: most, step, required: true });
    this.fields = {
      count: field("count", 20, 1, 500),
      beams: field("beams", 4, 2, 16),
      temperature: field("temperature", 1, 0.05, 5, "any"),
      topK: field("top_k", 50, 0, 1000),
      topP: field("top_p", 1, 0.01, 1, "any"),
      seed: field("seed", 0, 0, 2 ** 31),
    };
    this.submit = make("button", { type: "submit", class: "button primary" }, () =>
      predicts === "words" ? word.predict : predicts === "masks" ? word.predictMask : word.predictClass,
    );
    this.stop = make(
      "button",
      { type: "button", class: "button", hidden: true, onclick: () => options.cancel() },
      () => word.cancel,
    );
    const labelled = (text: Text, input: HTMLElement, only: string) =>
      make("label", { class: "decoding-field", "data-only": only }, make("span", {}, text), input);
    const { fields } = this;
    this.element = make(
      "form",
      { class: "decoding", onsubmit: (event: Event) => this.send(event) },
      ...(predicts === "words"
        ? [
            labelled(() => word.method, this.method, ""),
            labelled(() => word.count, fields.count, ""),
            labelled(() => word.beams, fields.beams, "beam"),
            labelled(() => word.temperature, fields.temperature, "sampling"),
            labelled(() => word.topK, fields.topK, "sampling"),
            labelled(() => word.topP, fields.topP, "sampling"),
            labelled(() => word.seed, fields.seed, "sampling"),
          ]
        : []),
      this.submit,
      this.stop,
      this.progress,
      this.said,
    );
    this.arrange();
  }

  /** Set fields as something was written before. */
  fill(decode: DecodeRequest): void {
    this.method.value = decode.method;
    const { fields } = this;
    const put = (field: HTMLInputElement, value: number | null | undefined) => {
      if (typeof value === "number") field.value = String(value);
    };
    put(fields.count, decode.max_new_tokens);
    put(fields.beams, decode.beams);
    put(fields.temperature, decode.temperature);
    put(fields.topK, decode.top_k);
    put(fields.topP, decode.top_p);
    put(fields.seed, decode.seed);
    this.arrange();
  }

  texts(): DecodingText {
    const fields = Object.entries(this.fields).map(([name, field]) => [name, field.value]);
    return { ...Object.fromEntries(fields), method: this.method.value };
  }

  restore(texts: DecodingText): void {
    for (const [name, field] of Object.entries({ ...this.fields, method: this.method }))
      field.value = texts[name] ?? field.value;
    this.arrange();
  }

  /** What the fields say; null where nothing is written. */
  read(): DecodeRequest | null {
    if (this.options.predicts !== "words") return null;
    const method = this.method.value as Method;
    const { fields } = this;
    const base = { method, max_new_tokens: fields.count.valueAsNumber };
    if (method === "beam") return { ...base, beams: fields.beams.valueAsNumber };
    if (method === "greedy") return base;
    const topK = fields.topK.valueAsNumber;
    return {
      ...base,
      temperature: fields.temperature.valueAsNumber,
      ...(topK > 0 ? { top_k: topK } : {}),
      top_p: fields.topP.valueAsNumber,
      seed: fields.seed.valueAsNumber,
    };
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
