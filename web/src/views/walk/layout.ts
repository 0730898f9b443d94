/**
 * Where the matrices of a step stand, and how large their cells are.
 *
 * In:   panels, the operation, pixels across.
 * Out:  a plan. A product is laid out crosswise: rows of the left factor meet columns of the upper one in the result.
 */

import type { WalkStep } from "../../api/types";
import { LABELS, NAME, turns } from "./look";
import type { Loaded, Panel } from "./panels";

export interface Item {
  readonly panel: Panel;
  readonly cellWidth: number;
  readonly cellHeight: number;
  readonly sign: string;
  readonly place: "left" | "top" | "bias" | "result" | "flow";
  readonly bare?: boolean; // columns have no names here
}

export interface Plan {
  readonly kind: "cross" | "beside" | "below";
  readonly items: readonly Item[];
}

const WIDEST = 46; // pixels of a cell
const NARROW = 520; // pixels across: on less, matrices stand one below the other, as on a phone
const FEATURES = 170; // pixels down for rows that are features
const GAP = 40;
const PICTURE = 168; // pixels across of a picture
const CROSS = new Set(["product", "dot", "cosine", "bilinear", "additive", "mix"]);

/** Pixels a cell may be wide: whole ones where there is room. */
const ABOVE_STATES = 76; // pixels of a caption and of the tokens above a matrix
const ABOVE_HEADS = 32;
const HEAD_NAME = 96; // pixels of a layer's name
const HEAD_GAP = 6;

export function fitCell(columns: number, pixels: number, widest = WIDEST): number {
  const cell = Math.min(widest, pixels / Math.max(1, columns));
  return cell >= 3 ? Math.floor(cell) : cell;
}

/** All layers at a glance: states side by side or not, and pictures of heads in columns, so that all is in sight. */
export function fitGlance(
  [width, height]: readonly [width: number, height: number],
  { planes, rows, heads }: { readonly planes: number; readonly rows: number; readonly heads: number },
): { readonly beside: boolean; readonly high: number; readonly columns: number; readonly head: number } {
  const beside = width > 500;
  const matrices = planes === 0 ? 0 : beside ? 1 : 2;
  const share = rows === 0 ? 1 : 0.5; // of the room, for states
  const high = Math.floor(
    Math.max(
      8,
      Math.min(20, ((height * share) / Math.max(1, matrices) - ABOVE_STATES) / Math.max(1, planes)),
    ),
  );
  const left = height - matrices * (ABOVE_STATES + planes * high) - ABOVE_HEADS;
  const fits = [1, 2, 3].map((columns) => {
    const across = (width / columns - HEAD_NAME) / Math.max(1, heads) - HEAD_GAP;
    const down = left / Math.max(1, Math.ceil(rows / columns)) - HEAD_GAP;
    return { columns, head: Math.floor(Math.max(16, Math.min(56, across, down))) };
  });
  const best = fits.reduce((one, other) => (other.head > one.head ? other : one));
  return { beside, high, ...best };
}

export function rowHeight(rows: number): number {
  if (rows <= 14) return 22;
  if (rows <= 30) return 17;
  if (rows <= 40) return 13;
  return Math.max(2, Math.floor(440 / rows));
}

/** Rows that are features, not tokens. */
function isFeatures(panel: Panel): boolean {
  return panel.role === "parameter" || panel.turned;
}

/** Heights of what is learned: rows are features, and need no names. */
function featureHeight(rows: number): number {
  return Math.min(18, Math.max(0.1, FEATURES / Math.max(1, rows)));
}

/** Pixels for what is not cells: the formula, and the caption of each matrix. */
const FORMULA = 34;
const CAPTION = 38;
const CORNER = 196; // pixels down for the arithmetic beside the upper factor
const LEAST = 3; // pixels of a row, however many there are

/** All matrices of a step within this width and, as far as rows can shrink, this height; then zoomed. */
export function arrange(loaded: Loaded, step: WalkStep, [width, height]: Room, zoom = 1): Plan {
  const { kind, items } = lay(loaded, step, width, height - FORMULA);
  const zoomed = items.map((item) => ({
    ...item,
    cellWidth: item.cellWidth * zoom,
    cellHeight: item.cellHeight * zoom,
  }));
  return { kind, items: zoomed };
}

export type Room = readonly [width: number, height: number];

function lay(loaded: Loaded, step: WalkStep, width: number, height: number): Plan {
  const { panels, result, bias } = loaded;
  const before = panels.filter((panel) => panel !== result);
  if (CROSS.has(step.operation) && before.length === 2 && width >= NARROW)
    return arrangeCross(before as [Panel, Panel], result, bias, [width, height]);
  const all = bias === null ? panels : [...before, bias, result];
  const widest = Math.max(...all.map((panel) => panel.grid.columns));
  const each = (width - all.length * (LABELS + GAP)) / all.length;
  const beside = all.length > 1 && each / widest >= 30 && !CROSS.has(step.operation);
  const room = beside ? each : width - LABELS - 16;
  const lines = all.reduce((sum, panel) => sum + (isFeatures(panel) ? 0 : panel.grid.rows), 0);
  const sameWidth = fitCell(widest, room);
  const captions = all.reduce((sum, panel) => sum + CAPTION + namesAbove(panel, sameWidth), 0);
  const features = all.filter(isFeatures).length * FEATURES;
  const left = beside ? height - CAPTION - 60 : height - captions - features;
  const most = width < NARROW ? Number.POSITIVE_INFINITY : left / Math.max(1, beside ? tallest(all) : lines);
  return {
    kind: beside ? "beside" : "below",
    items: all.map((panel, place) => ({
      panel,
      cellWidth: CROSS.has(step.operation) ? fitCell(panel.grid.columns, room) : sameWidth,
      cellHeight: isFeatures(panel)
        ? featureHeight(panel.grid.rows)
        : lowRow(rowHeight(beside ? panel.grid.rows : lines), most),
      ...(isPicture(step, panel) ? square(panel, room) : {}),
      sign: signOf(step, panel, place, loaded),
      place: "flow",
    })),
  };
}

/** Between a matrix and the one before it; where a formula stands above, nothing is multiplied here. */
function signOf({ operation }: WalkStep, panel: Panel, place: number, { result, bias }: Loaded): string {
  if (place === 0) return "";
  if (panel === result) return operation === "add" ? "=" : "→";
  if (panel === bias || operation === "add") return "+";
  return CROSS.has(operation) ? "·" : "";
}

/** Pixels of a picture, which is not to be stretched. */
function isPicture({ operation }: WalkStep, panel: Panel): boolean {
  return operation === "cut" && panel.role === "input";
}

function square({ grid }: Panel, room: number): Pick<Item, "cellWidth" | "cellHeight"> {
  const cell = Math.min(room, PICTURE) / Math.max(1, grid.columns);
  return { cellWidth: cell, cellHeight: cell };
}

function tallest(panels: readonly Panel[]): number {
  return Math.max(...panels.map((panel) => panel.grid.rows));
}

/** The height of a row: as wished, or what there is room for. */
function lowRow(wish: number, most: number): number {
  return Math.max(LEAST, Math.min(wish, most >= 4 ? Math.floor(most) : most));
}

/** Pixels for the names of columns: those that do not fit lie on their side. */
function namesAbove({ grid }: Panel, cellWidth: number): number {
  if (grid.column === null || cellWidth < NAME) return 0;
  const long = Array.from({ length: grid.columns }, (_, at) => turns(grid.column!(at), cellWidth));
  return long.some(Boolean) ? 64 : 16;
}

function arrangeCross(
  [left, top]: [Panel, Panel],
  result: Panel,
  bias: Panel | null,
  [width, height]: Room,
): Plan {
  const room = width - LABELS - GAP - (left.grid.row === null ? 0 : LABELS);
  const wish = (panel: Panel) => panel.grid.columns * WIDEST;
  const half = room / 2;
  const forLeft = Math.min(wish(left), Math.max(half, room - wish(result)));
  const leftCell = fitCell(left.grid.columns, forLeft);
  const cell = fitCell(result.grid.columns, room - leftCell * left.grid.columns);
  const named = top.role !== "parameter" && top.grid.row !== null; // values: rows are tokens
  const bare = top.grid.column !== null; // the columns are named above the upper factor
  const topNames = namesAbove(top, cell);
  const above = Math.max(CORNER - CAPTION - topNames, Math.min(FEATURES, 0.42 * height));
  const over = 2 * CAPTION + 10 + topNames + (bare ? 0 : namesAbove(result, cell)) + (bias === null ? 0 : 20);
  const high = lowRow(rowHeight(result.grid.rows), (height - over - above) / result.grid.rows);
  const items: Item[] = [
    {
      panel: top,
      cellWidth: cell,
      cellHeight: named
        ? lowRow(Math.min(rowHeight(top.grid.rows), 18), above / top.grid.rows)
        : Math.min(18, Math.max(0.1, above / Math.max(1, top.grid.rows))),
      sign: "",
      place: "top",
    },
  ];
  if (bias !== null) items.push({ panel: bias, cellWidth: cell, cellHeight: 12, sign: "+", place: "bias" });
  items.push(
    { panel: left, cellWidth: leftCell, cellHeight: high, sign: "", place: "left" },
    { panel: result, cellWidth: cell, cellHeight: high, sign: "", place: "result", bare },
  );
  return { kind: "cross", items };
}
