/**
 * Lines on a canvas between the columns; for one token up to boxes that say which head looks there.
 *
 * In:   lines, weights of the token in focus, the columns' places.
 * Out:  pixels.
 */

import { type Brush, fillBoxes, type Lines, strokeLines } from "../../marks/arcs";
import type { Axis, Columns } from "../../marks/columns";
import type { HeadWeights } from "./head_weights";

const GAP = 4; // between a line's end and what it points at

export function paintLines(
  context: CanvasRenderingContext2D,
  lines: Lines,
  columns: Columns,
  brush: Brush,
): void {
  const { left, right } = columns.lane();
  const lane = { left: left + GAP, right: right - GAP, top: columns.view("query").top, row: columns.row };
  strokeLines(context, lines, lane, brush);
}

/** The lines of one token, and its weights (head, token) as boxes beside the tokens of the other axis. */
export function paintFocus(
  context: CanvasRenderingContext2D,
  axis: Axis,
  weights: Float32Array,
  lines: Lines,
  attention: HeadWeights,
  columns: Columns,
  brush: Brush,
): void {
  const { heads } = attention;
  const { left, right } = columns.lane();
  const box = Math.max(3, Math.min(10, Math.floor((right - left) / 4 / Math.max(1, heads.length))));
  const gutter = box * heads.length + 6;
  const lane = {
    left: left + (axis === "query" ? gutter : GAP),
    right: right - (axis === "key" ? gutter : GAP),
    top: columns.view("query").top,
    row: columns.row,
  };
  strokeLines(context, lines, lane, brush);
  const x = axis === "key" ? lane.right + GAP : lane.left - GAP - box * heads.length;
  const place = { x, box, lane, rows: columns.view(axis).rows, count: attention.count(axis) };
  fillBoxes(context, weights, place, { heads, ...brush });
}
