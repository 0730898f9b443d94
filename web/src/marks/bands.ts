/**
 * Bands between columns: streams as wide as their shares, and a strip of heat at every column.
 *
 * In:   streams, shares, where columns and rows stand.
 * Out:  shapes on a canvas, or SVG.
 */

import type { Stream } from "../core/maths/rollout";
import { pick } from "./colours";
import { figure } from "./paper";

export interface Grid {
  readonly columns: readonly number[]; // x of the middle of each plane's strip
  readonly top: number; // y of the middle of row 0
  readonly row: number;
  readonly strip: number; // width of a strip
  readonly thick: number; // pixels of a share of 1
}

interface Band {
  readonly left: number;
  readonly right: number;
  readonly low: number; // y of the upper edge at the left
  readonly high: number; // and at the right
  readonly tall: number;
}

/** The place in a colour table of a share: square roots show small ones. */
export function shade(share: number): number {
  return share > 0 ? Math.max(1, Math.min(255, Math.round(255 * Math.sqrt(share)))) : 0;
}

function bandOf(stream: Stream, grid: Grid, down: readonly Float32Array[]): Band {
  const { columns, strip, thick, top, row } = grid;
  const lower = down[stream.layer]![stream.from]!;
  const upper = down[stream.layer + 1]![stream.to]!;
  return {
    left: columns[stream.layer]! + strip / 2,
    right: columns[stream.layer + 1]! - strip / 2,
    low: top + stream.from * row + (stream.start - lower / 2) * thick,
    high: top + stream.to * row + (stream.end - upper / 2) * thick,
    tall: Math.max(0.35, stream.share * thick),
  };
}

export interface BandLook {
  readonly fill: string;
  readonly chosen: string;
  readonly table: Uint8Array;
}

export function paintBands(
  context: CanvasRenderingContext2D,
  streams: readonly Stream[],
  down: readonly Float32Array[],
  grid: Grid,
  look: BandLook,
  inView: (row: number) => boolean,
): void {
  for (const stream of streams) {
    if (!inView(stream.from) && !inView(stream.to)) continue;
    const band = bandOf(stream, grid, down);
    context.globalAlpha = stream.of > 0 || look.chosen === look.fill ? 0.4 : 0.3;
    context.fillStyle = look.fill;
    trace(context, band);
    if (stream.of > 0) {
      const part = stream.of / stream.share;
      context.globalAlpha = 0.85;
      context.fillStyle = look.chosen;
      trace(context, { ...band, tall: Math.max(0.35, band.tall * part) });
    }
  }
  context.globalAlpha = 1;
}

function trace(context: CanvasRenderingContext2D, { left, right, low, high, tall }: Band): void {
  const middle = (left + right) / 2;
  context.beginPath();
  context.moveTo(left, low);
  context.bezierCurveTo(middle, low, middle, high, right, high);
  context.lineTo(right, high + tall);
  context.bezierCurveTo(middle, high + tall, middle, low + tall, left, low + tall);
  context.fill();
}

/** The cells of heat at every column. */
function cellsOf(
  down: readonly Float32Array[],
  { columns, strip, top, row: high }: Grid,
  [first, last]: readonly [number, number],
  table: Uint8Array,
): { x: number; y: number; fill: string }[] {
  const rows = Array.from({ length: last - first }, (_, at) => first + at);
  return down.flatMap((plane, column) =>
    rows.map((row) => ({
      x: columns[column]! - strip / 2,
      y: top + (row - 0.5) * high + 1,
      fill: pick(table, shade(plane[row]!)),
    })),
  );
}

export function paintStrips(
  context: CanvasRenderingContext2D,
  down: readonly Float32Array[],
  grid: Grid,
  rows: readonly [number, number],
  look: { table: Uint8Array; line: string },
): void {
  const tall = grid.row - 2;
  context.strokeStyle = look.line;
  context.lineWidth = 0.5;
  for (const { x, y, fill } of cellsOf(down, grid, rows, look.table)) {
    context.fillStyle = fill;
    context.fillRect(x, y, grid.strip, tall);
    context.strokeRect(x, y, grid.strip, tall);
  }
}

/** The same as SVG. */
export function writeBands(
  streams: readonly Stream[],
  down: readonly Float32Array[],
  grid: Grid,
  rows: readonly [number, number],
  look: BandLook & { line: string },
): string {
  const inside = (row: number) => row >= rows[0] && row < rows[1];
  const shapes = streams
    .filter((stream) => inside(stream.from) && inside(stream.to))
    .map((stream) => {
      const band = bandOf(stream, grid, down);
      const data = `data-layer="${stream.layer}" data-from="${stream.from}" data-to="${stream.to}" data-share="${figure(stream.share)}"`;
      const whole = `<path d="${path(band)}" fill="${look.fill}" fill-opacity="0.35" ${data}/>`;
      const part =
        stream.of > 0
          ? `<path d="${path({ ...band, tall: Math.max(0.35, (band.tall * stream.of) / stream.share) })}" fill="${look.chosen}" fill-opacity="0.85"/>`
          : "";
      return whole + part;
    });
  const tall = grid.row - 2;
  const cells = cellsOf(down, grid, rows, look.table).map(
    ({ x, y, fill }) =>
      `<rect x="${figure(x)}" y="${figure(y)}" width="${grid.strip}" height="${tall}" fill="${fill}" stroke="${look.line}" stroke-width="0.5"/>`,
  );
  return shapes.join("") + cells.join("");
}

function path({ left, right, low, high, tall }: Band): string {
  const middle = figure((left + right) / 2);
  const [a, b, c, d] = [low, high, high + tall, low + tall].map((each) => figure(each));
  return (
    `M${figure(left)} ${a}C${middle} ${a} ${middle} ${b} ${figure(right)} ${b}` +
    `L${figure(right)} ${c}C${middle} ${c} ${middle} ${d} ${figure(left)} ${d}Z`
  );
}
