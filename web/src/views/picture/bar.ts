/**
 * The bar above the picture: what its colours show, how, and their scale.
 *
 * In:   what the options say, the largest number.
 * Out:  choices; a legend.
 */

import { digits } from "../../core/formats";
import type { Options } from "../../core/options";
import { MODES, type Mode } from "../../data/axis_numbers";
import { choice } from "../../marks/controls";
import { make, write } from "../../marks/make";
import { type Paint, veilColour } from "../../marks/patches";
import type { PictureOptions } from "./settings";
import type { Words } from "./words";

const STEPS = 128;

export class Bar {
  readonly element: HTMLElement;
  private readonly modes;
  private readonly paints;
  private readonly ramp = make("canvas", {
    class: "picture-ramp",
    width: STEPS,
    height: 1,
    "aria-hidden": "true",
  });
  private readonly least = make("span");
  private readonly most = make("span");

  constructor(
    say: Words,
    options: Options<PictureOptions>,
    private readonly signed: boolean,
  ) {
    const hints: Partial<Record<Mode, () => string>> = {
      received: () => say.receivedHint,
      rollout: () => say.rolloutHint,
    };
    const modes = MODES.map((value) => ({ value, text: () => say[value], title: hints[value] }));
    this.modes = choice<Mode>(
      () => say.show,
      modes,
      options.now.show,
      (show) => options.set({ show }),
    );
    const paints = [
      { value: "colour" as const, text: () => say.colour },
      { value: "light" as const, text: () => say.light, title: () => say.lightHint },
    ];
    this.paints = choice<Paint>(
      () => say.paint,
      paints,
      options.now.paint,
      (paint) => options.set({ paint }),
    );
    const scale = make("div", { class: "picture-scale" }, this.least, this.ramp, this.most);
    this.element = make(
      "div",
      { class: "drawn-bar" },
      this.modes.element,
      !signed && this.paints.element,
      scale,
    );
  }

  show(mode: Mode, paint: Paint, maximum: number): void {
    this.modes.set(mode);
    this.paints.set(paint);
    write(this.least, digits(this.signed ? -maximum : 0));
    write(this.most, digits(maximum));
    this.paintRamp(paint);
  }

  /** Which modes the map allows. */
  allow(possible: (mode: Mode) => boolean): void {
    for (const input of this.modes.element.querySelectorAll("input"))
      input.disabled = !possible(input.value as Mode);
  }

  /** The colours as they lie over a grey of middle strength. */
  private paintRamp(paint: Paint): void {
    const context = this.ramp.getContext("2d");
    if (context === null) return;
    context.fillStyle = "#808080";
    context.fillRect(0, 0, STEPS, 1);
    for (let step = 0; step < STEPS; step++) {
      const share = step / (STEPS - 1);
      const value = this.signed ? 2 * share - 1 : share;
      const [red, green, blue, cover] = veilColour(value, { maximum: 1, signed: this.signed, paint });
      context.fillStyle = `rgb(${red} ${green} ${blue} / ${cover / 255})`;
      context.fillRect(step, 0, 1, 1);
    }
  }
}
