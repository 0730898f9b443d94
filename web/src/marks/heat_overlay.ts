/**
 * What lies over a heat map: the crosshair, the selected row and column, the names they point at.
 *
 * In:   a canvas that covers cells and margins, cells, inks.
 * Out:  lines and words; nothing here touches the cells' own canvas.
 */

import type { Camera } from "../core/heat";
import { elide } from "./axis";
import { type Axis, FONT_SIZE, type PlotBox } from "./heat_axes";
import type { Inks } from "./paper";

const AXES = ["query", "key"] as const;
type AxisName = (typeof AXES)[number];

export interface Cell {
  readonly query: number; // rows and columns of the map, from 0
  readonly key: number;
}

/** A cell, or only a row or a column. */
export interface Pointed {
  readonly query: number | null;
  readonly key: number | null;
}

export interface OverlayInks extends Inks {
  readonly accentInk: string; // on the accent
}

export interface Overlay {
  readonly box: PlotBox;
  readonly camera: Camera; // CSS pixels per cell
  readonly axes: { readonly query: Axis; readonly key: Axis };
  readonly hover: Pointed | null;
  readonly flat: boolean; // names above columns lie flat
  readonly selected: { readonly query: number | null; readonly key: number | null };
}

export function drawOverlay(context: CanvasRenderingContext2D, overlay: Overlay, inks: OverlayInks): void {
  const { hover, selected } = overlay;
  for (const axis of AXES)
    if (selected[axis] !== null) band(context, overlay, axis, selected[axis], inks.accent, 0.05);
  if (hover !== null) {
    for (const axis of AXES)
      if (hover[axis] !== null) band(context, overlay, axis, hover[axis], inks.ink, 0.04);
    if (hover.query !== null && hover.key !== null)
      box(context, overlay, { query: hover.query, key: hover.key }, inks.ink, 1.5);
  }
  const { query, key } = selected;
  if (query !== null && key !== null) box(context, overlay, { query, key }, inks.accent, 2);
  for (const axis of AXES) {
    const [chosen, pointed] = [selected[axis], hover?.[axis] ?? undefined];
    if (chosen !== null && chosen !== pointed) name(context, overlay, axis, chosen, inks, true);
    if (pointed !== undefined) name(context, overlay, axis, pointed, inks, pointed === chosen);
  }
}

/** Where the names lie that are drawn over those of the axes: the middle of a row or column. */
export function namedPlaces(overlay: Overlay): { readonly down: boolean; readonly at: number }[] {
  return AXES.flatMap((axis) =>
    [overlay.selected[axis], overlay.hover?.[axis] ?? null].flatMap((cell) => {
      const found = cell === null ? null : reach(overlay, axis, cell);
      return found === null ? [] : [{ down: axis === "key", at: (found[0] + found[1]) / 2 }];
    }),
  );
}

/** Pixels [from, to] of a row or column within the cells' part; null when it is out of view. */
function reach({ box, camera }: Overlay, axis: AxisName, cell: number): readonly [number, number] | null {
  const [first, length, margin, side] =
    axis === "query"
      ? [camera.query, box.height, box.top, camera.high]
      : [camera.key, box.width, box.left, camera.wide];
  const from = (cell - first) * side;
  const to = from + side;
  if (to <= 0 || from >= length) return null;
  return [margin + Math.max(0, from), margin + Math.min(length, to)];
}

function band(
  context: CanvasRenderingContext2D,
  overlay: Overlay,
  axis: AxisName,
  cell: number,
  colour: string,
  strength: number,
): void {
  const found = reach(overlay, axis, cell);
  if (found === null) return;
  const { box } = overlay;
  const [from, to] = found;
  const [wide, high] = shownSize(overlay);
  context.fillStyle = colour;
  context.globalAlpha = strength;
  const thick = Math.max(1, to - from);
  if (axis === "query") context.fillRect(box.left, from, wide, thick);
  else context.fillRect(from, box.top, thick, high);
  context.globalAlpha = 0.75;
  context.lineWidth = 1;
  context.strokeStyle = colour;
  context.beginPath();
  for (const at of to - from < 4 ? [(from + to) / 2] : [from, to]) {
    const line = Math.round(at) + (at === to ? -0.5 : 0.5);
    if (axis === "query") {
      context.moveTo(box.left, line);
      context.lineTo(box.left + wide, line);
    } else {
      context.moveTo(line, box.top);
      context.lineTo(line, box.top + high);
    }
  }
  context.stroke();
  context.globalAlpha = 1;
}

/** How much of the cells' part is covered by cells: a small map leaves room. */
function shownSize({ box, camera, axes }: Overlay): readonly [number, number] {
  return [
    Math.min(box.width, (axes.key.count - camera.key) * camera.wide),
    Math.min(box.height, (axes.query.count - camera.query) * camera.high),
  ];
}

function box(
  context: CanvasRenderingContext2D,
  overlay: Overlay,
  { query, key }: Cell,
  colour: string,
  width: number,
): void {
  const rows = reach(overlay, "query", query);
  const columns = reach(overlay, "key", key);
  if (rows === null || columns === null) return;
  const [wide, high] = [Math.max(5, columns[1] - columns[0]), Math.max(5, rows[1] - rows[0])];
  const [x, y] = [(columns[0] + columns[1]) / 2, (rows[0] + rows[1]) / 2];
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.strokeRect(x - wide / 2, y - high / 2, wide, high);
}

/** The name of a row or column on a plate beside the cells. */
function name(
  context: CanvasRenderingContext2D,
  overlay: Overlay,
  axis: AxisName,
  cell: number,
  inks: OverlayInks,
  selected: boolean,
): void {
  const found = reach(overlay, axis, cell);
  if (found === null) return;
  const { box } = overlay;
  const beside = axis === "query";
  const flat = !beside && overlay.flat;
  const room = beside ? box.left : box.top;
  const middle = (found[0] + found[1]) / 2;
  const text = nameOf(context, overlay, axis, cell, room - 10);
  const long = context.measureText(text).width + 10;
  const width = flat ? long : Math.min(room - 2, long);
  context.save();
  context.translate(beside ? box.left - 2 : middle, beside ? middle : box.top - 2);
  if (!beside && !flat) context.rotate(-Math.PI / 2); // now the name runs from the cells outwards
  const [left, top] = beside ? [-width, -9] : flat ? [-long / 2, -19] : [0, -9];
  context.fillStyle = selected ? inks.accent : inks.ground;
  context.fillRect(left, top, width, 18);
  if (!selected) {
    context.globalAlpha = 0.35;
    context.strokeStyle = inks.ink;
    context.lineWidth = 1;
    context.strokeRect(left + 0.5, top + 0.5, width - 1, 17);
    context.globalAlpha = 1;
  }
  context.fillStyle = selected ? inks.accentInk : inks.ink;
  context.textAlign = beside ? "right" : flat ? "center" : "left";
  context.fillText(text, beside ? -5 : flat ? 0 : 5, top + 9 + FONT_SIZE * 0.34);
  context.restore();
}

/** The token; with its number where only every so many are named. */
function nameOf(
  context: CanvasRenderingContext2D,
  { axes, camera }: Overlay,
  which: AxisName,
  cell: number,
  room: number,
): string {
  const axis = axes[which];
  const number = axis.start + cell;
  const text = axis.tokens.get(number, axis.count > 4096);
  const full =
    text === undefined ? String(number) : Math.min(camera.wide, camera.high) < 3 ? `${text} ${number}` : text;
  return elide(full, Math.max(12, room), (part) => context.measureText(part).width);
}
