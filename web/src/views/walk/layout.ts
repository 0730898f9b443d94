/**
 * Where the matrices of a step stand, and how large their cells are.
 *
 * In:   panels, the operation, pixels across.
 * Out:  a plan. A product is laid out crosswise: rows of the left factor meet columns of the upper one in the result.
 */

import type { WalkStep } from "../../api/types";
import { LABELS } from "./look";
import type { Loaded, Panel } from "./panels";

export interface Item {
  readonly panel: Panel;
  readonly cellWidth: number;
  readonly cellHeight: number;
  readonly sign: string;
  readonly place: "left" | "top" | "bias" | "result" | "flow";
}

export interface Plan {
  readonly kind: "cross" | "beside" | "below";
  readonly items: readonly Item[];
}

const WIDEST = 46; // pixels of a cell
const GAP = 40;
const CROSS = new Set(["product", "dot", "cosine", "bilinear", "additive", "mix"]);

/** Pixels a cell may be wide: whole ones where there is room. */
export function fitCell(columns: number, pixels: number, widest = WIDEST): number {
  const cell = Math.min(widest, pixels / Math.max(1, columns));
  return cell >= 3 ? Math.floor(cell) : cell;
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
  return Math.min(18, Math.max(0.1, 170 / Math.max(1, rows)));
}

export function arrange(loaded: Loaded, step: WalkStep, width: number): Plan {
  const { panels, result, bias } = loaded;
  const before = panels.filter((panel) => panel !== result);
  if (CROSS.has(step.operation) && before.length === 2 && width >= 560)
    return arrangeCross(before as [Panel, Panel], result, bias, width);
  const all = bias === null ? panels : [...before, bias, result];
  const widest = Math.max(...all.map((panel) => panel.grid.columns));
  const each = (width - all.length * (LABELS + GAP)) / all.length;
  const beside = all.length > 1 && each / widest >= 30 && !CROSS.has(step.operation);
  const room = beside ? each : width - LABELS - 16;
  const lines = all.reduce((sum, panel) => sum + (isFeatures(panel) ? 0 : panel.grid.rows), 0);
  const sameWidth = fitCell(widest, room);
  return {
    kind: beside ? "beside" : "below",
    items: all.map((panel, place) => ({
      panel,
      cellWidth: CROSS.has(step.operation) ? fitCell(panel.grid.columns, room) : sameWidth,
      cellHeight: isFeatures(panel)
        ? featureHeight(panel.grid.rows)
        : rowHeight(beside ? panel.grid.rows : lines),
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

function arrangeCross([left, top]: [Panel, Panel], result: Panel, bias: Panel | null, width: number): Plan {
  const room = width - LABELS - GAP - (left.grid.row === null ? 0 : LABELS);
  const wish = (panel: Panel) => panel.grid.columns * WIDEST;
  const half = room / 2;
  const forLeft = Math.min(wish(left), Math.max(half, room - wish(result)));
  const leftCell = fitCell(left.grid.columns, forLeft);
  const cell = fitCell(result.grid.columns, room - leftCell * left.grid.columns);
  const high = rowHeight(result.grid.rows);
  const named = top.role !== "parameter" && top.grid.row !== null; // values: rows are tokens
  const items: Item[] = [
    {
      panel: top,
      cellWidth: cell,
      cellHeight: named ? Math.min(high, 18) : featureHeight(top.grid.rows),
      sign: "",
      place: "top",
    },
  ];
  if (bias !== null) items.push({ panel: bias, cellWidth: cell, cellHeight: 12, sign: "+", place: "bias" });
  items.push(
    { panel: left, cellWidth: leftCell, cellHeight: high, sign: "", place: "left" },
    { panel: result, cellWidth: cell, cellHeight: high, sign: "", place: "result" },
  );
  return { kind: "cross", items };
}
