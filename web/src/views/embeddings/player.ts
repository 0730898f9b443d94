/**
 * A button that plays the layers one after the other.
 *
 * In:   a step to the next layer, that says whether there was one; what is still being drawn.
 * Out:  a button; at the last layer it stops by itself.
 */

import type { Tasks } from "../../core/tasks";
import { button } from "../../marks/controls";
import { relabel } from "../../marks/make";
import type { Words } from "./words";

const PACE = 1100; // milliseconds for a layer

interface LayersToPlay {
  /** From the first layer again, where the last is shown. */
  start(): void;
  /** One layer on; false at the last. */
  step(): boolean;
  /** Until the layer is drawn. */
  drawn(): Promise<unknown>;
}

export function makePlayer(tasks: Tasks, layers: LayersToPlay, say: Words): HTMLButtonElement {
  let playing = false;
  const play = (on: boolean): void => {
    playing = on;
    if (on) tasks.later("play", PACE, next);
    else tasks.cancel("play");
    relabel(element);
  };
  const next = async (): Promise<void> => {
    await layers.drawn();
    if (playing && !tasks.over) play(layers.step());
  };
  const element = button(
    () => (playing ? say.stop : say.play),
    () => {
      if (!playing) layers.start();
      play(!playing);
    },
  );
  return element;
}
