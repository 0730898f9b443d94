/**
 * Lines that a person draws, and the picture that a model is given of them.
 *
 * In:   strokes: points from 0 to 1, a colour, whether what they surround is filled.
 * Out:  where each point lies in the picture; drawn on any canvas.
 */

export type Point = readonly [x: number, y: number];

export interface Stroke {
  readonly points: readonly Point[];
  readonly ink?: string | undefined; // a colour of CSS; none: black, or white on a dark ground
  readonly filled?: boolean | undefined;
}

export const LINE = 0.09; // width of a line, of the side of the picture

/** How a model is used to see drawings. */
export interface Look {
  readonly dark: boolean; // light lines on a dark ground
  readonly fill: number | null; // of the side, that the longer side of the lines takes; null: as drawn
}

/**
 * The same strokes, moved and scaled as the pictures were that a model has learnt from: the box around the lines takes
 * `fill` of the side, and the middle of their mass lies in the middle.
 */
export function fitStrokes(strokes: readonly Stroke[], fill: number | null): readonly Stroke[] {
  const points = strokes.flatMap((stroke) => stroke.points);
  if (fill === null || points.length === 0) return strokes;
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const box = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys));
  const scale = box > 0 ? Math.max(fill - LINE, LINE) / box : 1;
  const [x, y] = middleOf(strokes);
  const fit = (point: Point): Point => [0.5 + (point[0] - x) * scale, 0.5 + (point[1] - y) * scale];
  return strokes.map((stroke) => ({ ...stroke, points: stroke.points.map(fit) }));
}

/** The middle of the mass of lines: of each piece by its length, a dot as a very short one. */
function middleOf(strokes: readonly Stroke[]): Point {
  let [mass, x, y] = [0, 0, 0];
  for (const { points } of strokes)
    for (const [at, to] of points.entries()) {
      const from = points[Math.max(0, at - 1)]!;
      const length = Math.hypot(to[0] - from[0], to[1] - from[1]) + 1e-6;
      mass += length;
      x += (length * (from[0] + to[0])) / 2;
      y += (length * (from[1] + to[1])) / 2;
    }
  return [x / mass, y / mass];
}

/** Draws lines on a square canvas, and nothing else on it. */
export function drawStrokes(canvas: HTMLCanvasElement, strokes: readonly Stroke[], dark: boolean): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const side = canvas.width;
  context.fillStyle = dark ? "black" : "white";
  context.fillRect(0, 0, side, side);
  context.lineWidth = LINE * side;
  context.lineCap = context.lineJoin = "round";
  for (const { points, ink, filled } of strokes) {
    const [first, ...others] = points;
    if (!first) continue;
    context.strokeStyle = ink ?? (dark ? "white" : "black");
    context.fillStyle = context.strokeStyle;
    const [x, y] = [first[0] * side, first[1] * side];
    context.beginPath();
    if (others.every(([otherX, otherY]) => otherX === first[0] && otherY === first[1])) {
      context.arc(x, y, (LINE * side) / 2, 0, 2 * Math.PI); // a dot: browsers draw no line without length
      context.fill();
      continue;
    }
    context.moveTo(x, y);
    for (const point of others) context.lineTo(point[0] * side, point[1] * side);
    if (filled) context.fill();
    else context.stroke();
  }
}

const SIDE = 112; // pixels of the picture that is sent

/** The strokes as a PNG; null where the browser makes none. */
export function encodeStrokes(strokes: readonly Stroke[], look: Look): Promise<Blob | null> {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = SIDE;
  drawStrokes(canvas, fitStrokes(strokes, look.fill), look.dark);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
