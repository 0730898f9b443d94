/**
 * The bar above the text: what its colours show, and their scale.
 *
 * In:   the mode of the moment, the largest number.
 * Out:  three choices, one of them checked; a legend.
 */

import type { Theme } from "../../core/view";
import { drawRamp } from "../../marks/cells";
import { diverging, sequential } from "../../marks/colours";
import { choice } from "../../marks/controls";
import { drawChart, make } from "../../marks/make";
import { MODES, type Mode } from "./settings";
import type { Words } from "./words";

export class Bar {
  readonly element: HTMLElement;
  readonly largest = make("span", { class: "text-largest" });
  readonly least = make("span", {}, "0");
  private readonly legend = drawChart(120, 10, null);
  private readonly modes;

  constructor(
    say: Words,
    private readonly theme: () => Theme,
    private readonly signed: boolean,
    choose: (mode: Mode) => void,
  ) {
    const choices = MODES.map((value) => ({
      value,
      text: () => say[value],
      title: value === "received" ? () => say.receivedHint : undefined,
    }));
    this.modes = choice<Mode>(() => say.show, choices, "out", choose);
    this.legend.classList.add("text-legend");
    this.paint();
    this.element = make(
      "div",
      { class: "text-bar drawn-bar" },
      this.modes.element,
      make("div", { class: "text-scale" }, this.least, this.legend, this.largest),
    );
  }

  /** The legend, in the colours of the theme. */
  paint(): void {
    this.legend.replaceChildren(...drawRamp((this.signed ? diverging : sequential)(this.theme()), 120, 10));
  }

  /** Without weights only what is received in all can be chosen. */
  show(mode: Mode, weights: boolean): void {
    this.modes.set(mode);
    for (const input of this.modes.element.querySelectorAll("input"))
      input.disabled = !weights && input.value !== "received";
  }
}
