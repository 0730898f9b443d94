/**
 * Each head of a layer as a small picture.
 *
 * In:   the picture, the numbers of all heads for the token in focus.
 * Out:  buttons; which head is chosen.
 */

import { clearCanvas } from "../../marks/canvas";
import { make, relabel } from "../../marks/make";
import { type Grid, type Paint, paintPicture, paintVeil } from "../../marks/patches";
import type { Words } from "./words";

const SIDE = 64; // CSS pixels of the longer side
const MOST = 64; // heads

export class Heads {
  readonly element: HTMLElement;
  private readonly row = make("div", { class: "picture-heads" });
  private buttons: readonly { readonly button: HTMLElement; readonly canvas: HTMLCanvasElement }[] = [];

  constructor(
    private readonly say: Words,
    private readonly choose: (head: number) => void,
  ) {
    this.element = make(
      "section",
      { hidden: true },
      make("h2", {}, () => say.heads),
      this.row,
    );
  }

  /** `values`: (head, cell). */
  show(
    image: CanvasImageSource,
    aspect: number,
    grid: Grid,
    values: readonly Float32Array[],
    { chosen, paint, signed }: { chosen: number | null; paint: Paint; signed: boolean },
  ): void {
    this.element.hidden = values.length < 2;
    const shown = values.slice(0, MOST);
    if (this.buttons.length !== shown.length) {
      this.buttons = shown.map((_, head) => {
        const canvas = make("canvas", { "aria-hidden": "true" });
        const look = {
          type: "button",
          class: "picture-head",
          "aria-label": () => this.say.head(head),
          title: () => this.say.head(head),
          onclick: () => this.choose(head),
        };
        return { canvas, button: make("button", look, canvas, make("span", {}, head)) };
      });
      this.row.replaceChildren(...this.buttons.map(({ button }) => button));
    }
    const [width, height] = aspect >= 1 ? [SIDE, SIDE / aspect] : [SIDE * aspect, SIDE];
    shown.forEach((each, head) => {
      const { button, canvas } = this.buttons[head]!;
      button.setAttribute("aria-pressed", String(head === chosen));
      const context = clearCanvas(canvas, width, height, true);
      if (context === null) return;
      paintPicture(context, image, width, height, paint === "colour" || signed);
      const maximum = each.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0);
      paintVeil(context, { values: each, maximum, signed, paint }, grid, width, height);
    });
  }

  hide(): void {
    this.element.hidden = true;
  }

  relabel(): void {
    relabel(this.element);
  }
}
