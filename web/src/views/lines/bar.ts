/**
 * The bar above the lines: heads, threshold, scale, and how much is hidden.
 *
 * In:   the selection.
 * Out:  controls that change it, and follow it.
 */

import { fixed } from "../../core/formats";
import type { SelectionStore } from "../../core/selection";
import { make, write } from "../../marks/make";
import { HeadRow } from "./headrow";
import { chooseHeads, chooseRelative, chooseThreshold, isRelative, thresholdOf } from "./settings";
import type { words } from "./words";

export class Bar {
  readonly element: HTMLElement;
  readonly hidden = make("span", { class: "lines-hidden" });
  private readonly heads: HeadRow;
  private readonly average: HTMLElement;
  private readonly slider: HTMLInputElement;
  private readonly threshold = make("output", { class: "lines-threshold" });
  private readonly scale = make("input", { type: "checkbox" });
  private count = 0;

  constructor(
    word: ReturnType<typeof words>,
    private readonly store: SelectionStore,
  ) {
    this.heads = new HeadRow(word, (heads) => chooseHeads(store, heads, this.count));
    this.average = make("span", { class: "lines-average" }, () => word.modelAverage);
    this.slider = make("input", {
      type: "range",
      min: 0,
      max: 100,
      step: 1,
      "aria-label": () => word.threshold,
    });
    this.slider.addEventListener("input", () =>
      chooseThreshold(store, (this.slider.valueAsNumber / 100) ** 2),
    );
    this.scale.addEventListener("change", () => chooseRelative(store, this.scale.checked));
    const slider = make(
      "label",
      { class: "lines-slider" },
      make("span", {}, () => word.threshold),
      this.slider,
      this.threshold,
    );
    const scale = make(
      "label",
      { class: "lines-scale", title: () => word.relativeHint },
      this.scale,
      () => word.relative,
    );
    this.element = make(
      "div",
      { class: "lines-bar" },
      this.heads.element,
      this.average,
      slider,
      scale,
      this.hidden,
    );
  }

  /** Heads of another map; of the average of all layers there is only one. */
  setHeads(colours: readonly string[], model: boolean): void {
    this.count = colours.length;
    this.heads.element.hidden = model;
    this.average.hidden = !model;
    this.heads.setHeads(colours);
  }

  follow(heads: readonly number[]): void {
    const selection = this.store.get();
    const threshold = thresholdOf(selection);
    this.heads.setOn(heads);
    this.slider.value = String(Math.round(100 * Math.sqrt(threshold)));
    this.scale.checked = isRelative(selection);
    write(this.threshold, fixed(threshold, threshold < 0.1 ? 3 : 2));
  }
}
