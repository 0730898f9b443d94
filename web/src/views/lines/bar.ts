/**
 * The bar above the lines: heads, threshold, scale, and how much is hidden.
 *
 * In:   the options.
 * Out:  controls that change them, and follow them.
 */

import { fixed } from "../../core/formats";
import type { Options } from "../../core/options";
import type { SelectionStore } from "../../core/selection";
import { slider, tick } from "../../marks/controls";
import { make } from "../../marks/make";
import { HeadRow } from "./headrow";
import { chooseHeads, type LinesOptions, roundThreshold } from "./settings";
import type { Words } from "./words";

export class Bar {
  readonly element: HTMLElement;
  readonly hidden = make("span", { class: "lines-hidden" });
  private readonly heads: HeadRow;
  private readonly average: HTMLElement;
  private readonly slider;
  private readonly scale;
  private count = 0;

  constructor(
    say: Words,
    private readonly options: Options<LinesOptions>,
    store: SelectionStore,
  ) {
    this.heads = new HeadRow(say, (heads) => chooseHeads(options, store.get(), heads, this.count));
    this.average = make("span", { class: "lines-average" }, () => say.modelAverage);
    const threshold = (value: number): number => (value / 100) ** 2;
    this.slider = slider(
      {
        label: () => say.threshold,
        minimum: 0,
        maximum: 100,
        step: 1,
        value: 0,
        text: (value) => fixed(threshold(value), threshold(value) < 0.1 ? 3 : 2),
      },
      (value) => options.set({ threshold: roundThreshold(threshold(value)) }),
    );
    this.slider.element.classList.add("lines-slider");
    this.scale = tick(
      () => say.relative,
      false,
      (scale) => options.set({ scale }),
    );
    this.element = make(
      "div",
      { class: "lines-bar drawn-bar" },
      this.heads.element,
      this.average,
      this.slider.element,
      make("span", { title: () => say.relativeHint }, this.scale.element),
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
    const { threshold, scale } = this.options.now;
    this.heads.setOn(heads);
    this.slider.set(Math.round(100 * Math.sqrt(threshold)));
    this.scale.set(scale);
  }
}
