/**
 * What lies over a heat map: the crosshair, the selected row and column, the names they point at.
 *
 * In:   a canvas that covers cells and margins, cells, inks.
 * Out:  lines and words; nothing here touches the cells' own canvas.
 */

import type { Camera } from "../core/heat";
import { elide } from "./axis";
import { type Axis, FONT_SIZE, type PlotBox } from "./heat_axes";

export interface Cell {
  readonly query: number; // rows and columns of the map, from 0
  readonly key: number;
}

export interface OverlayInks {
  readonly ink: string;
  readonly accent: string;
  readonly accentInk: string;
  readonly panel: string;
}

export interface Overlay {
  readonly box: PlotBox;
  readonly camera: Camera; // CSS pixels per cell
  readonly axes: { readonly query: Axis; readonly key: Axis };
  readonly hover: Cell | null;
  readonly flat: boolean; // names above columns lie flat
  readonly selected: { readonly query: number | null; readonly key: number | null };
}

export function drawOverlay(context: CanvasRenderingContext2D, overlay: Overlay, inks: OverlayInks): void {
  const { hover, selected } = overlay;
  if (selected.query !== null) band(context, overlay, "query", selected.query, inks.accent, 0.05);
  if (selected.key !== null) band(context, overlay, "key", selected.key, inks.accent, 0.05);
  if (hover !== null) {
    band(context, overlay, "query", hover.query, inks.ink, 0.04);
    band(context, overlay, "key", hover.key, inks.ink, 0.04);
    box(context, overlay, hover, inks.ink, 1.5);
  }
  if (selected.query !== null && selected.key !== null) {
    box(context, overlay, { query: selected.query, key: selected.key }, inks.accent, 2);
  }
  if (selected.query !== null && selected.query !== hover?.query)
    nameRow(context, overlay, selected.query, inks, true);
  if (selected.key !== null && selected.key !== hover?.key)
    nameColumn(context, overlay, selected.key, inks, true);
  if (hover !== null) {
    nameRow(context, overlay, hover.query, inks, hover.query === selected.query);
    nameColumn(context, overlay, hover.key, inks, hover.key === selected.key);
  }
}

/** Pixels [from, to] of a row or column within the cells' part; null when it is out of view. */
function reach(
  { box, camera }: Overlay,
  axis: "query" | "key",
  cell: number,
): readonly [number, number] | null {
  const [first, length, margin] =
    axis === "query" ? [camera.query, box.height, box.top] : [camera.key, box.width, box.left];
  const from = (cell - first) * camera.scale;
  const to = from + camera.scale;
  if (to <= 0 || from >= length) return null;
  return [margin + Math.max(0, from), margin + Math.min(length, to)];
}

function band(
  context: CanvasRenderingContext2D,
  overlay: Overlay,
  axis: "query" | "key",
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
    Math.min(box.width, (axes.key.count - camera.key) * camera.scale),
    Math.min(box.height, (axes.query.count - camera.query) * camera.scale),
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
  const side = Math.max(5, rows[1] - rows[0]);
  const [x, y] = [(columns[0] + columns[1]) / 2, (rows[0] + rows[1]) / 2];
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.strokeRect(x - side / 2, y - side / 2, side, side);
}

function nameRow(
  context: CanvasRenderingContext2D,
  overlay: Overlay,
  query: number,
  inks: OverlayInks,
  selected: boolean,
): void {
  const found = reach(overlay, "query", query);
  if (found === null) return;
  const { box } = overlay;
  const y = (found[0] + found[1]) / 2;
  const text = nameOf(context, overlay, "query", query, box.left - 10);
  context.fillStyle = selected ? inks.accent : inks.panel;
  const width = Math.min(box.left - 2, context.measureText(text).width + 10);
  context.fillRect(box.left - 2 - width, y - 9, width, 18);
  if (!selected) outline(context, box.left - 2 - width, y - 9, width, 18, inks.ink);
  context.fillStyle = selected ? inks.accentInk : inks.ink;
  context.textAlign = "right";
  context.fillText(text, box.left - 7, y + FONT_SIZE * 0.34);
}

function nameColumn(
  context: CanvasRenderingContext2D,
  overlay: Overlay,
  key: number,
  inks: OverlayInks,
  selected: boolean,
): void {
  const found = reach(overlay, "key", key);
  if (found === null) return;
  const { box, flat } = overlay;
  const x = (found[0] + found[1]) / 2;
  const text = nameOf(context, overlay, "key", key, box.top - 10);
  const long = context.measureText(text).width + 10;
  context.save();
  context.translate(x, box.top - 2);
  if (!flat) context.rotate(-Math.PI / 2);
  // Now the name runs from the cells outwards, or lies flat above them.
  const [left, top, width] = flat ? [-long / 2, -19, long] : [0, -9, Math.min(box.top - 2, long)];
  context.fillStyle = selected ? inks.accent : inks.panel;
  context.fillRect(left, top, width, 18);
  if (!selected) outline(context, left, top, width, 18, inks.ink);
  context.fillStyle = selected ? inks.accentInk : inks.ink;
  context.textAlign = flat ? "center" : "left";
  context.fillText(text, flat ? 0 : 5, top + 9 + FONT_SIZE * 0.34);
  context.restore();
}

function outline(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  width: number,
  height: number,
  colour: string,
): void {
  context.globalAlpha = 0.35;
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  context.globalAlpha = 1;
}

/** The token; with its number where only every so many are named. */
function nameOf(
  context: CanvasRenderingContext2D,
  { axes, camera }: Overlay,
  which: "query" | "key",
  cell: number,
  room: number,
): string {
  const axis = axes[which];
  const number = axis.start + cell;
  const text = axis.tokens.get(number, axis.count > 4096);
  const full = text === undefined ? String(number) : camera.scale < 3 ? `${text} ${number}` : text;
  return elide(full, Math.max(12, room), (part) => context.measureText(part).width);
}
