/**
 * Points with labels that do not overlap, on a canvas or as SVG.
 *
 * In:   coordinates, labels, which point is in focus.
 * Out:  pictures; `pointAt` for hover. The plane keeps its proportions (a unit is as long up as across), or fills the paper.
 */

import type { Turn } from "../core/maths/turn";
import type { Theme } from "../core/view";
import { pick, sequential } from "./colours";
import { figure, type Inks, label } from "./paper";
import { textWidth } from "./text";

export interface Camera {
  readonly zoom: number; // 1: everything fits
  readonly x: number; // what is in the middle
  readonly y: number;
}

export const WHOLE: Camera = { zoom: 1, x: 0, y: 0 };

/** Which part of the plane the paper shows when everything fits. */
export interface Fit {
  readonly x: number; // what is in the middle
  readonly y: number;
  readonly wide: number; // from there to the edge
  readonly high: number;
  readonly fills: boolean; // each axis has a scale of its own
}

type Sheet = Pick<ScatterLook, "width" | "height" | "camera" | "fit">;

export interface ScatterLook {
  readonly width: number;
  readonly height: number;
  readonly inks: Inks;
  readonly theme: Theme;
  readonly camera: Camera;
  readonly fit: Fit;
  readonly focus: number | null; // number of a point
  readonly hovered: number | null;
  readonly turn: Turn | null; // where the principal axes point; null: none to draw
  readonly axes: readonly [string, string];
  label(point: number): string;
  weight?(point: number): number; // attention that it receives, 0 to 1: a disc behind it
}

export interface Placed {
  readonly point: number;
  readonly x: number;
  readonly y: number;
  readonly anchor: "start" | "middle" | "end";
}

/** The first place of the colour table that is used: paler ones would be lost on the ground. */
export const PALEST = 70;

const EDGE = 36;
const DISC = 18; // radius at a weight of 1
const OPACITY = 0.3; // of discs
const SIZE = 12; // of a label's letters
const ACROSS = 48; // side of a cell when looking for overlaps
const MOST_DOTS = 400; // points that labels keep clear of

type Box = readonly [left: number, top: number, right: number, bottom: number];

/** Around zero as far as the farthest point; or all points and no more, each axis to its own scale. */
export function fitOf(points: Float64Array, fills: boolean): Fit {
  const [low, high] = [
    [Infinity, Infinity],
    [-Infinity, -Infinity],
  ] as [number[], number[]];
  points.forEach((value, at) => {
    low[at % 2] = Math.min(low[at % 2]!, value);
    high[at % 2] = Math.max(high[at % 2]!, value);
  });
  if (fills && points.length >= 4) {
    const half = (axis: number) => Math.max(1e-12, (high[axis]! - low[axis]!) / 2);
    const middle = (axis: number) => (high[axis]! + low[axis]!) / 2;
    return { x: middle(0), y: middle(1), wide: half(0), high: half(1), fills };
  }
  const reach = Math.max(1e-12, ...high, ...low.map((value) => -value));
  return { x: 0, y: 0, wide: reach, high: reach, fills: false };
}

/** Coordinates in units of the fit: planes of any size fit the paper, and glide into each other. */
export function toUnits(points: Float64Array, { x, y, wide, high }: Fit): Float64Array {
  return points.map((value, at) => (at % 2 === 0 ? (value - x) / wide : (value - y) / high));
}

/** Pixels of a unit, across and up. */
export function unitOf({ width, height, camera, fit }: Sheet): readonly [number, number] {
  const half = (side: number) => (side / 2 - Math.min(EDGE, 0.12 * side)) * camera.zoom;
  const least = half(Math.min(width, height));
  return fit.fills ? [half(width), half(height)] : [least, least];
}

/** From the plane, in units (see `toUnits`), to the paper. */
export function toPaper(points: Float64Array, look: Sheet): Float32Array {
  const { width, height, camera } = look;
  const [across, up] = unitOf(look);
  const places = new Float32Array(points.length);
  for (let at = 0; at < points.length; at += 2) {
    places[at] = width / 2 + (points[at]! - camera.x) * across;
    places[at + 1] = height / 2 - (points[at + 1]! - camera.y) * up;
  }
  return places;
}

/** Labels that hide no other label and no point in focus; the first of `order` have the first choice. */
export function placeLabels(
  places: Float32Array,
  order: Iterable<number>,
  measure: (point: number) => number,
  size: { readonly width: number; readonly height: number },
  most: number,
  name: (point: number) => string = String,
): Placed[] {
  const taken = new Map<number, Box[]>();
  const dots = new Map<number, Box[]>();
  const placed: Placed[] = [];
  const named = new Map<string, [number, number][]>(); // equal words close together are said once
  const cells = function* (box: Box) {
    for (let x = Math.floor(box[0] / ACROSS); x <= Math.floor(box[2] / ACROSS); x++) {
      for (let y = Math.floor(box[1] / ACROSS); y <= Math.floor(box[3] / ACROSS); y++) yield x * 65536 + y;
    }
  };
  const clear = (box: Box, others: Map<number, Box[]>) => {
    for (const cell of cells(box)) {
      for (const other of others.get(cell) ?? []) {
        if (box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]) return false;
      }
    }
    return true;
  };
  const isFree = (box: Box): boolean =>
    box[0] >= 0 && box[1] >= 0 && box[2] <= size.width && box[3] <= size.height && clear(box, taken);
  const put = (box: Box, among: Map<number, Box[]>): void => {
    for (const cell of cells(box)) among.set(cell, [...(among.get(cell) ?? []), box]);
  };
  for (let at = 0; at < Math.min(places.length, 2 * MOST_DOTS); at += 2) {
    const [x, y] = [places[at]!, places[at + 1]!];
    put([x - 3, y - 3, x + 3, y + 3], dots);
  }
  for (const point of order) {
    if (placed.length >= most) break;
    const [x, y] = [places[2 * point]!, places[2 * point + 1]!];
    if (x < 0 || y < 0 || x > size.width || y > size.height) continue;
    const same = named.get(name(point)) ?? [];
    if (same.some((other) => Math.hypot(other[0] - x, other[1] - y) < 4 * SIZE)) continue;
    const wide = measure(point);
    const tries: [Placed["anchor"], number, number, number][] = [
      ["start", x + 6, y + 4, x + 6],
      ["end", x - 6, y + 4, x - 6 - wide],
      ["middle", x, y - 7, x - wide / 2],
      ["middle", x, y + 16, x - wide / 2],
    ];
    const found = tries
      .map(([anchor, at, base, left]) => ({
        label: { point, x: at, y: base, anchor },
        box: [left - 1, base - SIZE + 1, left + wide + 1, base + 3] as const,
      }))
      .filter(({ box }) => isFree(box));
    const best = found.find(({ box }) => clear(box, dots)) ?? found[0]; // rather over a point than nowhere
    if (best === undefined) continue;
    put(best.box, taken);
    named.set(name(point), [...same, [x, y]]);
    placed.push(best.label);
  }
  return placed;
}

/** The point nearest to a place, within reach of a finger. */
export function pointAt(places: Float32Array, x: number, y: number, within = 14): number | null {
  let best: number | null = null;
  let least = within * within;
  for (let at = 0; at < places.length; at += 2) {
    const away = (places[at]! - x) ** 2 + (places[at + 1]! - y) ** 2;
    if (away <= least) [best, least] = [at / 2, away];
  }
  return best;
}

/** Everything that is drawn, from back to front; `measure` gives the width of a text. */
function layOut(points: Float64Array, look: ScatterLook, measure: (text: string) => number) {
  const { inks, focus, hovered } = look;
  const places = toPaper(points, look);
  const count = places.length / 2;
  const table = sequential(look.theme);
  const at = (point: number) => ({ x: places[2 * point]!, y: places[2 * point + 1]! });
  const wide = (point: number) => measure(look.label(point));
  const rings = [
    { point: hovered, ink: inks.ink },
    { point: focus, ink: inks.accent },
  ].flatMap(({ point, ink }) => (point === null || point >= count ? [] : [{ ...at(point), ink }]));
  return {
    places,
    radius: count > 1000 ? 2 : count > 200 ? 3 : 4,
    lines: axisLines(points, look),
    dots: Array.from({ length: count }, (_, point) => ({
      ...at(point),
      fill: pick(table, shade(point, count)),
    })),
    discs: Array.from({ length: look.weight ? count : 0 }, (_, point) => ({
      ...at(point),
      radius: DISC * Math.sqrt(look.weight?.(point) ?? 0),
    })).filter(({ radius }) => radius > 1),
    labels: placeLabels(places, labelOrder(count, look), wide, look, 400, look.label).map((placed) => ({
      ...placed,
      text: look.label(placed.point),
      fill: placed.point === focus || placed.point === hovered ? inks.ink : inks.soft,
    })),
    rings,
  };
}

/** Draw on a canvas that is as large as the look says. */
export function paintScatter(
  context: CanvasRenderingContext2D,
  points: Float64Array,
  look: ScatterLook,
): Float32Array {
  const { width, height, inks } = look;
  context.clearRect(0, 0, width, height);
  context.font = `${SIZE}px system-ui, sans-serif`;
  const laid = layOut(points, look, (text) => context.measureText(text).width);
  const circle = (x: number, y: number, radius: number): void => {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
  };
  const write = (text: string, { x, y, anchor }: Pick<Placed, "x" | "y" | "anchor">, fill: string): void => {
    context.fillStyle = fill;
    context.textAlign = anchor === "middle" ? "center" : anchor;
    context.fillText(text, x, y);
  };
  for (const { x1, y1, x2, y2 } of laid.lines) {
    context.strokeStyle = inks.line;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
  }
  context.fillStyle = inks.accent;
  context.globalAlpha = OPACITY;
  for (const { x, y, radius } of laid.discs) {
    circle(x, y, radius);
    context.fill();
  }
  context.globalAlpha = 1;
  for (const { x, y, fill } of laid.dots) {
    context.fillStyle = fill;
    circle(x, y, laid.radius);
    context.fill();
  }
  for (const placed of laid.labels) write(placed.text, placed, placed.fill);
  context.lineWidth = 2;
  for (const { x, y, ink } of laid.rings) {
    context.strokeStyle = ink;
    circle(x, y, laid.radius + 3);
    context.stroke();
  }
  context.lineWidth = 1;
  for (const line of laid.lines) write(line.name, line, inks.soft);
  return laid.places;
}

/** The same as SVG elements, for pictures. */
export function writeScatter(points: Float64Array, look: ScatterLook): string {
  const { lines, discs, dots, labels, rings, radius } = layOut(points, look, (text) =>
    textWidth(text, SIZE + 1),
  );
  const { line, soft } = look.inks;
  const round = (value: number) => Math.round(10 * value) / 10;
  const circle = (x: number, y: number, far: number, paint: string) =>
    `<circle cx="${figure(x)}" cy="${figure(y)}" r="${far}" ${paint}/>`;
  return [
    ...lines.map(
      ({ x1, y1, x2, y2, name, x, y, anchor }) =>
        `<line x1="${figure(x1)}" y1="${figure(y1)}" x2="${figure(x2)}" y2="${figure(y2)}" stroke="${line}"/>` +
        label(name, x, y, { fill: soft, size: 11, anchor }),
    ),
    ...discs.map((disc) =>
      circle(disc.x, disc.y, round(disc.radius), `fill="${look.inks.accent}" fill-opacity="${OPACITY}"`),
    ),
    ...dots.map(({ x, y, fill }) => circle(x, y, radius, `fill="${fill}"`)),
    ...labels.map(({ text, x, y, fill, anchor }) => label(text, x, y, { fill, size: SIZE, anchor })),
    ...rings.map(({ x, y, ink }) => circle(x, y, radius + 3, `fill="none" stroke="${ink}" stroke-width="2"`)),
  ].join("");
}

interface AxisLine {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
  readonly x: number; // of its name
  readonly y: number;
  readonly anchor: "start" | "middle" | "end";
  readonly name: string;
}

/** The principal axes through the middle, where the turn has brought them. */
function axisLines(points: Float64Array, look: ScatterLook): AxisLine[] {
  const { turn, width, height, fit } = look;
  if (turn === null || points.length < 4) return [];
  const [cx, cy] = toPaper(toUnits(Float64Array.of(0, 0), fit), look);
  const [across, high] = unitOf(look);
  const half = Math.max(width, height);
  return (
    [
      [turn[0], turn[1]],
      [turn[2], turn[3]],
    ] as const
  ).map(([alongX, alongY], axis) => {
    const [x, y] = [(alongX * across) / fit.wide, (alongY * high) / fit.high]; // pixels of a step along the axis
    const [right, up] = [x / Math.hypot(x, y), y / Math.hypot(x, y)];
    // As far as the paper goes in the axis's direction, less room for its name.
    const far = Math.min(
      right === 0 ? half : (right > 0 ? width - 8 - cx! : cx! - 8) / Math.abs(right),
      up === 0 ? half : (up > 0 ? cy! - 16 : height - 10 - cy!) / Math.abs(up),
    );
    const steep = Math.abs(up) > Math.abs(right);
    const [tipX, tipY] = [cx! + right * far, cy! - up * far];
    return {
      x1: cx! - right * half,
      y1: cy! + up * half,
      x2: cx! + right * half,
      y2: cy! - up * half,
      x: steep ? Math.min(Math.max(tipX + 6, 6), width - 6.4 * look.axes[axis]!.length) : tipX,
      y: steep ? tipY : tipY - 6,
      anchor: steep ? "start" : right > 0 ? "end" : "start",
      name: look.axes[axis]!,
    };
  });
}

/** Early tokens pale, late ones deep. */
function shade(point: number, count: number): number {
  return PALEST + (255 - PALEST) * (count < 2 ? 1 : point / (count - 1));
}

/** Who may have a label first: the point in focus, the one under the pointer, then evenly through the text. */
function* labelOrder(count: number, { focus, hovered }: ScatterLook): Iterable<number> {
  if (hovered !== null && hovered < count) yield hovered;
  if (focus !== null && focus < count && focus !== hovered) yield focus;
  for (let gap = 2 ** Math.ceil(Math.log2(Math.max(1, count))); gap >= 1; gap /= 2) {
    for (let point = 0; point < count; point += gap) {
      const seen = gap < count && point % (2 * gap) === 0;
      if (!seen && point !== focus && point !== hovered) yield point;
    }
  }
}
