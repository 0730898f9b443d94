/**
 * A strip that shows a whole text in one line of colour.
 *
 * In:   a number for each token, and which part is in the window.
 * Out:  pixels on a canvas; where many tokens share a pixel the largest number shows.
 */

import type { Theme } from "../core/view";
import { pick, sequential } from "./colours";
import { inks } from "./paper";

/** The largest number in each of `width` equal parts. */
export function pool(values: ArrayLike<number>, width: number): Float32Array {
  const largest = new Float32Array(width);
  for (let place = 0; place < values.length; place++) {
    const at = Math.min(width - 1, Math.floor((place * width) / values.length));
    if (values[place]! > largest[at]!) largest[at] = values[place]!;
  }
  return largest;
}

export function paintStrip(
  canvas: HTMLCanvasElement,
  values: ArrayLike<number> | null,
  frame: readonly [number, number],
  theme: Theme,
): void {
  const width = Math.max(1, canvas.clientWidth || canvas.width);
  canvas.width = width;
  const context = canvas.getContext("2d");
  if (context === null) return;
  const { height } = canvas;
  const table = sequential(theme);
  const pooled = values === null ? new Float32Array(width) : pool(values, width);
  const most = pooled.reduce((one, other) => Math.max(one, other), 0);
  for (let x = 0; x < width; x++) {
    context.fillStyle = pick(table, most > 0 ? (255 * pooled[x]!) / most : 0);
    context.fillRect(x, 2, 1, height - 4);
  }
  context.strokeStyle = inks(theme).accent;
  context.lineWidth = 2;
  context.strokeRect(frame[0] * width + 1, 1, Math.max(4, (frame[1] - frame[0]) * width - 2), height - 2);
}
