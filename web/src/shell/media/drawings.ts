/** Strokes to begin with: digits for a model that reads lines, coloured things for others. */

import type { Point, Stroke } from "./strokes";

/** Part of a circle, clockwise from the right; turns from 0 to 1. */
function arc(x: number, y: number, radius: number, from = 0, to = 1): Point[] {
  return Array.from({ length: 33 }, (_, at): Point => {
    const angle = 2 * Math.PI * (from + ((to - from) * at) / 32);
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
}

function triangle(top: number, bottom: number, left: number): Stroke {
  const points: Point[] = [
    [0.5, top],
    [1 - left, bottom],
    [left, bottom],
  ];
  return { points, ink: LEAVES, filled: true };
}

function rectangle(left: number, top: number, right: number, bottom: number, ink: string): Stroke {
  const points: Point[] = [
    [left, top],
    [right, top],
    [right, bottom],
    [left, bottom],
  ];
  return { points, ink, filled: true };
}

const LEAVES = "#5c913b";
const WOOD = "#662113";
const BROWN = "#664500";

const digits: readonly (readonly Stroke[])[] = [
  [
    {
      points: [
        [0.27, 0.25],
        [0.72, 0.23],
        [0.45, 0.82],
      ],
    },
  ],
  [{ points: [...arc(0.5, 0.34, 0.15, -0.4, 0.2), [0.3, 0.78], [0.72, 0.78]] }],
  [{ points: arc(0.5, 0.5, 0.26) }],
];

const things: readonly (readonly Stroke[])[] = [
  [
    rectangle(0.43, 0.6, 0.57, 0.98, WOOD),
    triangle(0.02, 0.4, 0.15),
    triangle(0.2, 0.62, 0.1),
    triangle(0.4, 0.85, 0.05),
  ],
  [rectangle(0, 0.15, 1, 0.85, "#eeeeee"), { points: arc(0.5, 0.5, 0.2), ink: "#ed1b2f", filled: true }],
  [
    { points: arc(0.5, 0.5, 0.48), ink: "#ffcc4d", filled: true },
    { points: [[0.33, 0.42]], ink: BROWN },
    { points: [[0.67, 0.42]], ink: BROWN },
    { points: arc(0.5, 0.55, 0.2, 0.05, 0.45), ink: BROWN },
  ],
];

/** The example of a number, counted on. */
export function exampleOf(number: number, lines: boolean): readonly Stroke[] {
  const all = lines ? digits : things;
  return all[number % all.length]!;
}
