/**
 * The flow on the screen: a column for each layer between two lists, heat at each token, bands between them.
 *
 * In:   the lists' places, a traced token.
 * Out:  pixels on a canvas, names above the columns.
 */

import type { Theme } from "../../core/view";
import { type Grid, paintBands, paintStrips } from "../../marks/bands";
import { sequential } from "../../marks/colours";
import type { Columns } from "../../marks/columns";
import { make } from "../../marks/make";
import { inks } from "../../marks/paper";
import { type LayerToken, STRIP, type Traced } from "./trace";
import type { Words } from "./words";

/** Where the columns of heat stand: the input, then every layer. */
export function layGrid(lists: Columns, planes: number): Grid {
  const { left, right } = lists.lane();
  const [first, last] = [left + STRIP, right - STRIP];
  const columns = Array.from(
    { length: planes },
    (_, plane) => first + ((last - first) * plane) / (planes - 1),
  );
  return { columns, top: lists.view("query").top, row: lists.row, strip: STRIP, thick: lists.row - 3 };
}

/** The token at a layer under a place of the lists' window, if there is one among `count`. */
export function nodeAt(grid: Grid, x: number, y: number, count: number): LayerToken | null {
  const row = Math.round((y - grid.top) / grid.row);
  const plane = grid.columns.findIndex((at) => Math.abs(at - x) <= Math.max(STRIP, 8));
  return plane < 0 || row < 0 || row >= count ? null : { plane, row };
}

export function paintFlow(
  context: CanvasRenderingContext2D,
  { streams, down, input }: Traced,
  grid: Grid,
  [first, last]: readonly [number, number],
  node: LayerToken | null,
  theme: Theme,
): void {
  const ink = inks(theme);
  const table = sequential(theme);
  const [fill, chosen] = input === null ? [ink.accent, ink.soft] : [ink.soft, ink.accent];
  const inView = (row: number) => row >= first - 1 && row <= last;
  paintBands(context, streams, down, grid, { fill, chosen, table }, inView);
  paintStrips(context, down, grid, [first, last], { table, line: ink.line });
  if (node === null) return;
  context.strokeStyle = ink.ink;
  context.lineWidth = 1.5;
  const [x, y] = [grid.columns[node.plane]! - STRIP / 2 - 1, grid.top + (node.row - 0.5) * grid.row];
  context.strokeRect(x, y, STRIP + 2, grid.row);
}

/** Names above the columns, as many as there is room for; `here`: the layer of the selection. */
export function nameLayers({ columns }: Grid, here: number, word: Words): HTMLElement[] {
  const every = Math.ceil(28 / Math.max(1, (columns[1] ?? 0) - (columns[0] ?? 0)));
  return columns.map((x, plane) => {
    const layer = plane - 1;
    const text = plane === 0 ? word.input : layer % every === 0 || layer === here ? word.layer(layer) : "";
    const look = { class: "flow-layer", "data-here": plane > 0 && layer === here };
    return make("span", { ...look, style: { left: `${x}px` } }, text);
  });
}
