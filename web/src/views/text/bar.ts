/**
 * The bar above the text: what its colours show, and their scale.
 *
 * In:   the mode of the moment, the largest number.
 * Out:  three choices, one of them checked; a legend.
 */

import type { Theme } from "../../core/view";
import { make } from "../../marks/make";
import { paintLegend } from "../../marks/strip";
import { MODES, type Mode } from "./settings";
import type { words } from "./words";

export class Bar {
  readonly element: HTMLElement;
  readonly largest = make("span", { class: "text-largest" });
  private readonly legend: HTMLCanvasElement;
  private readonly radios: ReadonlyMap<Mode, HTMLInputElement>;

  constructor(
    word: ReturnType<typeof words>,
    private readonly theme: () => Theme,
    choose: (mode: Mode) => void,
  ) {
    const radio = (mode: Mode) =>
      make("input", { type: "radio", name: "text-show", value: mode, onchange: () => choose(mode) });
    this.radios = new Map(MODES.map((mode) => [mode, radio(mode)]));
    const choices = [...this.radios].map(([mode, input]) =>
      make("label", mode === "received" ? { title: () => word.receivedHint } : {}, input, () => word[mode]),
    );
    const size = { width: 120, height: 10 };
    this.legend = make("canvas", { class: "text-legend", ...size, "aria-hidden": "true" });
    this.paint();
    this.element = make(
      "div",
      { class: "text-bar" },
      make("div", { class: "text-modes", role: "radiogroup", "aria-label": () => word.show }, ...choices),
      make("div", { class: "text-scale" }, "0", this.legend, this.largest),
    );
  }

  /** The legend, in the colours of the theme. */
  paint(): void {
    paintLegend(this.legend, this.theme());
  }

  /** Without weights only what is received in all can be chosen. */
  show(mode: Mode, weights: boolean): void {
    for (const [each, input] of this.radios) {
      input.checked = each === mode;
      input.disabled = !weights && each !== "received";
    }
  }
}
