/**
 * What a network wrote, or guessed, at each evaluation: the same few texts, to be scrubbed through training.
 *
 * In:   samples of a run by step, the step in focus.
 * Out:  a slider of evaluations and a table of texts. The evaluation at or before the step in focus is shown.
 */

import type { SampledStep } from "../../api/types";
import { count } from "../../core/formats";
import { make } from "../../marks/make";
import type { Words } from "./words";

export class SampleList {
  readonly element = make("section", { class: "samples", hidden: true });
  private readonly slider: HTMLInputElement;
  private readonly title = make("h2");
  private readonly when = make("output");
  private readonly body = make("tbody");
  private readonly head = make("tr");
  private steps: readonly SampledStep[] = [];

  constructor(
    private readonly say: Words,
    private readonly focus: (step: number) => void,
  ) {
    this.slider = make("input", {
      type: "range",
      min: 0,
      step: 1,
      "aria-label": () => this.say.evaluation,
      oninput: () => {
        const chosen = this.steps[Number(this.slider.value)];
        if (chosen) this.focus(chosen.step);
      },
    });
    const bar = make("div", { class: "drawn-bar" }, this.slider, this.when);
    const table = make("table", {}, make("thead", {}, this.head), this.body);
    this.element.append(this.title, bar, make("div", { class: "scroll", tabindex: 0 }, table));
  }

  set(steps: readonly SampledStep[]): void {
    this.steps = steps;
  }

  /** The evaluation at or before a step; null: the last one. */
  draw(step: number | null): void {
    const { say, steps } = this;
    this.element.hidden = steps.length === 0;
    const found = step === null ? steps.length - 1 : steps.findLastIndex((each) => each.step <= step);
    const at = Math.max(0, found);
    const chosen = steps[at];
    if (!chosen) return;
    this.title.textContent = say.samples;
    this.slider.max = String(steps.length - 1);
    this.slider.value = String(at);
    this.slider.setAttribute("aria-valuetext", say.atStep(count(chosen.step)));
    this.when.textContent = say.atStep(count(chosen.step));
    const heads = [say.sampleInput, say.sampleOutput, say.sampleWanted];
    this.head.replaceChildren(...heads.map((name) => make("th", { scope: "col" }, name)));
    this.body.replaceChildren(
      ...chosen.samples.map(({ input, output, wanted }) =>
        make(
          "tr",
          { "data-right": wanted !== null && wanted.trim() === output.trim() },
          make("td", { class: "soft" }, input),
          make("td", {}, output),
          make("td", { class: "soft" }, wanted ?? say.none),
        ),
      ),
    );
  }
}
