/**
 * Where the small pictures of heads stand: layers down and heads across, or one after the other by a number.
 *
 * In:   maps in groups, the size of the view, an order, the number of each head.
 * Out:  boxes in CSS pixels; headings, and names of rows and columns.
 */

import type { MapDescription } from "../../api/types";
import { moveInList } from "../../marks/keys";

export type Order = "layer" | "high" | "low";

export interface Group {
  readonly title: string;
  readonly maps: readonly MapDescription[];
}

export interface Box {
  readonly map: MapDescription;
  readonly head: number;
  readonly x: number;
  readonly y: number;
  readonly row: number; // counted through all groups
  readonly value: number | null;
  readonly kept: boolean; // by the filter
}

export interface Grid {
  readonly boxes: readonly Box[];
  readonly titles: readonly { readonly text: string; readonly y: number }[];
  readonly rows: readonly { readonly text: string; readonly y: number }[]; // names of layers, at the middle of their row
  readonly columns: readonly { readonly text: string; readonly x: number; readonly y: number }[]; // names of heads
  readonly size: number; // side of a picture
  readonly step: readonly [across: number, down: number];
  readonly labelled: boolean; // every picture has its name below
  readonly width: number;
  readonly height: number;
}

export interface GridOptions {
  readonly width: number;
  readonly height: number;
  readonly order: Order;
  readonly numberOf: (map: string, head: number) => number | null;
  readonly keeps: (value: number | null) => boolean;
  readonly pixels: number; // of the pictures themselves, in CSS pixels: sizes a little above are avoided
}

export const BAR = 3; // height of the bar below a picture
export const LABEL = 15; // height of the name below it
const TITLE = 36;
const GUTTER = 30; // names of layers
const NAMES = 18; // names of heads
const GAP = 6;
const LEAST = 16;
const COMFORTABLE = 64;
const LARGE = 176;
const NAMED = 52; // from here on each picture carries its name

export function labelOf(map: MapDescription, head: number): string {
  return `L${map.place.layer}·H${head}`;
}

export function layGrid(groups: readonly Group[], options: GridOptions): Grid {
  return options.order === "layer" ? layLayers(groups, options) : layRanked(groups, options);
}

function layLayers(groups: readonly Group[], options: GridOptions): Grid {
  const across = Math.max(1, ...groups.flatMap(({ maps }) => maps.map((map) => map.heads)));
  const down = groups.reduce((sum, { maps }) => sum + maps.length, 0);
  const size = sizeFor(across, down, groups.length, options);
  const labelled = size >= NAMED;
  const step = [size + GAP, size + BAR + 4 + (labelled ? LABEL : 0) + GAP] as const;
  const grid = {
    boxes: [] as Box[],
    titles: [] as Grid["titles"][number][],
    rows: [] as Grid["rows"][number][],
    columns: [] as Grid["columns"][number][],
  };
  let y = 0;
  let row = 0;
  for (const { title, maps } of groups) {
    grid.titles.push({ text: title, y });
    y += TITLE;
    const heads = Math.max(0, ...maps.map((map) => map.heads));
    const every = Math.max(1, Math.ceil(30 / step[0]));
    for (let head = 0; head < heads; head += every)
      grid.columns.push({ text: `H${head}`, x: GUTTER + head * step[0] + size / 2, y: y + 10 });
    y += NAMES;
    for (const map of maps) {
      grid.rows.push({ text: `L${map.place.layer}`, y: y + size / 2 });
      for (let head = 0; head < map.heads; head++)
        grid.boxes.push(box(map, head, GUTTER + head * step[0], y, row, options));
      y += step[1];
      row += 1;
    }
    y += 12;
  }
  return { ...grid, size, step, labelled, width: GUTTER + across * step[0], height: y };
}

/** As large as fits across, up to a comfortable size; larger only where all heads still stand in view. */
function sizeFor(
  across: number,
  down: number,
  groups: number,
  { width, height, pixels }: GridOptions,
): number {
  const wide = Math.floor((width - GUTTER) / across) - GAP;
  const room = height - groups * (TITLE + NAMES + 12);
  const high = Math.floor(room / Math.max(1, down)) - GAP - BAR - 4 - LABEL;
  let size = Math.min(wide, Math.max(high, COMFORTABLE), LARGE);
  if (pixels > 32 && size > pixels && size < 2 * pixels) size = pixels; // whole pixels stay whole
  return Math.max(LEAST, Math.floor(size));
}

function layRanked(groups: readonly Group[], options: GridOptions): Grid {
  const size = Math.max(NAMED + 4, Math.min(options.pixels > 32 ? options.pixels : 72, 88));
  const step = [size + GAP + 4, size + BAR + 4 + LABEL + GAP + 4] as const;
  const perRow = Math.max(1, Math.floor((options.width + GAP) / step[0]));
  const boxes: Box[] = [];
  const titles: { text: string; y: number }[] = [];
  let y = 0;
  let row = 0;
  for (const { title, maps } of groups) {
    const all = maps.flatMap((map) =>
      Array.from({ length: map.heads }, (_, head) => box(map, head, 0, 0, 0, options)),
    );
    const kept = all.filter((each) => each.kept).sort((a, b) => compare(a.value, b.value, options.order));
    titles.push({ text: title, y });
    y += TITLE;
    for (const [place, each] of kept.entries()) {
      const [down, right] = [Math.floor(place / perRow), place % perRow];
      boxes.push({ ...each, x: right * step[0], y: y + down * step[1], row: row + down });
    }
    const rows = Math.ceil(kept.length / perRow);
    y += rows * step[1] + 12;
    row += rows;
  }
  return {
    boxes,
    titles,
    rows: [],
    columns: [],
    size,
    step,
    labelled: true,
    width: perRow * step[0],
    height: y,
  };
}

function box(
  map: MapDescription,
  head: number,
  x: number,
  y: number,
  row: number,
  options: GridOptions,
): Box {
  const value = options.numberOf(map.place.address, head);
  return { map, head, x, y, row, value, kept: options.keeps(value) };
}

/** Numbers in order; what is undefined comes last either way. */
function compare(a: number | null, b: number | null, order: Order): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return order === "high" ? b - a : a - b;
}

/** The box at a place of the content, if there is one; its bar and name count as well. */
export function boxAt(grid: Grid, x: number, y: number): Box | null {
  return (
    grid.boxes.find(
      (box) => x >= box.x && x < box.x + grid.step[0] && y >= box.y && y < box.y + grid.step[1],
    ) ?? null
  );
}

/** The box to go to with an arrow key. */
export function neighbour(grid: Grid, from: Box, key: string): Box {
  const { boxes } = grid;
  const at = boxes.indexOf(from);
  const to = moveInList(key, at, boxes.length, "across");
  if (to !== undefined) return boxes[to] ?? from;
  const row = from.row + (key === "ArrowDown" ? 1 : -1);
  const line = boxes.filter((box) => box.row === row);
  const far = (box: Box): number => Math.abs(box.x - from.x);
  return (
    line.reduce<Box | null>((best, box) => (best === null || far(box) < far(best) ? box : best), null) ?? from
  );
}

/** Scroll an element until a box is in view. */
export function reveal(box: Box, { step }: Grid, scroller: HTMLElement): void {
  if (box.y < scroller.scrollTop + 8) scroller.scrollTop = Math.max(0, box.y - 60);
  const below = box.y + step[1] - scroller.clientHeight;
  if (below > scroller.scrollTop) scroller.scrollTop = below + 8;
  if (box.x < scroller.scrollLeft + 30) scroller.scrollLeft = Math.max(0, box.x - 40);
  const right = box.x + step[0] - scroller.clientWidth;
  if (right > scroller.scrollLeft) scroller.scrollLeft = right + 8;
}
