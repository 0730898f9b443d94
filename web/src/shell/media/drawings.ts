/** Strokes to begin with: digits for a model that reads light lines on a dark ground, simple things for others. */

import type { Point, Stroke } from "./strokes";

/** Part of a circle, clockwise from the right; turns from 0 to 1. */
function arc(x: number, y: number, radius: number, from = 0, to = 1): Stroke {
  return Array.from({ length: 33 }, (_, at): Point => {
    const angle = 2 * Math.PI * (from + ((to - from) * at) / 32);
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
}

const digits: readonly (readonly Stroke[])[] = [
  [
    [
      [0.27, 0.25],
      [0.72, 0.23],
      [0.45, 0.82],
    ],
  ],
  [[...arc(0.5, 0.34, 0.15, -0.4, 0.2), [0.3, 0.78], [0.72, 0.78]]],
  [arc(0.5, 0.5, 0.26)],
];

const things: readonly (readonly Stroke[])[] = [
  [arc(0.5, 0.5, 0.38), [[0.37, 0.38]], [[0.63, 0.38]], arc(0.5, 0.52, 0.2, 0.05, 0.45)],
  [
    [
      [0.2, 0.85],
      [0.2, 0.45],
      [0.5, 0.15],
      [0.8, 0.45],
      [0.8, 0.85],
      [0.2, 0.85],
    ],
    [
      [0.45, 0.85],
      [0.45, 0.62],
      [0.58, 0.62],
      [0.58, 0.85],
    ],
  ],
];

/** The example of a number, counted on. */
export function exampleOf(number: number, dark: boolean): readonly Stroke[] {
  const all = dark ? digits : things;
  return all[number % all.length]!;
}
