/**
 * A button that plays the layers one after the other.
 *
 * In:   a step to the next layer, that says whether there was one; what is still being drawn.
 * Out:  a button; at the last layer it stops by itself.
 */

import { button } from "../../marks/controls";
import { relabel } from "../../marks/make";
import type { words } from "./words";

const PACE = 1100; // milliseconds for a layer

export interface LayersToPlay {
  /** From the first layer again, where the last is shown. */
  start(): void;
  /** One layer on; false at the last. */
  step(): boolean;
  /** Until the layer is drawn. */
  drawn(): Promise<unknown>;
}

export class Player {
  readonly element: HTMLButtonElement;
  private timer = 0; // 0: it does not play

  constructor(
    private readonly layers: LayersToPlay,
    say: ReturnType<typeof words>,
  ) {
    this.element = button(
      () => (this.playing ? say.stop : say.play),
      () => this.play(this.timer === 0),
    );
  }

  get playing(): boolean {
    return this.timer !== 0;
  }

  play(on: boolean): void {
    clearTimeout(this.timer);
    this.timer = 0;
    if (on) this.start();
    relabel(this.element);
  }

  private start(): void {
    this.layers.start();
    const next = async () => {
      await this.layers.drawn();
      if (this.timer === 0) return;
      if (this.layers.step()) this.timer = window.setTimeout(next, PACE);
      else this.play(false);
    };
    this.timer = window.setTimeout(next, PACE);
  }
}
