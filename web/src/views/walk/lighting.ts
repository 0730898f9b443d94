/**
 * What lights up with a cell: the row, the column or the number of each matrix that it was made from.
 *
 * In:   a cell of the result; what the server read for it, or the rule of the operation until that comes.
 * Out:  Lit for a panel.
 */

import type { CellArithmetic, WalkStep } from "../../api/types";
import type { Lit } from "./look";
import type { Loaded, Panel } from "./panels";

/** Operations that take a number from one place: nothing else lights up. */
const COPIES = new Set(["before", "concat", "ends", "repeat", "cut", "prepend", "fourier", "convolve"]);

/** The part of a panel behind the cell (row, column) of the result; `head`: the one on the screen. */
export function litOf(
  panel: Panel,
  loaded: Loaded,
  { operation }: WalkStep,
  [row, column]: readonly [row: number, column: number],
  cell: CellArithmetic | null,
  head: number,
): Lit {
  if (panel === loaded.result) return { row, column };
  if (panel === loaded.bias) return { row: 0, column };
  const read = cell?.reads.find((each) => each.name === panel.name);
  if (operation === "join" && read?.head !== undefined && read.head !== head) return {}; // it stands elsewhere
  if (read === undefined && COPIES.has(operation)) return {};
  if (read === undefined) return guess(operation, panel, row, column);
  const words = panel.role === "parameter" && loaded.column(column) !== column;
  const down = read.row === null ? -1 : words ? column : read.row - panel.first;
  const across = read.column === null ? -1 : loaded.drawn(read.column);
  const [at, beside] = panel.turned ? [across, down] : [down, across];
  return { ...(at < 0 ? {} : { row: at }), ...(beside < 0 ? {} : { column: beside }) };
}

/** Which part of an input a cell is made of, by the rule of the operation. */
function guess(operation: string, panel: Panel, row: number, column: number): Lit {
  switch (operation) {
    case "product":
      return panel.role === "parameter" ? { column } : { row: panel.grid.rows === 1 ? 0 : row };
    case "dot":
    case "cosine":
    case "bilinear":
    case "additive":
      return panel.turned ? { column } : { row };
    case "mix":
      return panel.grid.row !== null && /^[Vh]/.test(panel.symbol) ? { column } : { row };
    case "gate":
    case "mel":
    case "norm":
    case "softmax":
    case "choose":
      return { row: panel.grid.rows === 1 ? 0 : row };
    case "join":
      return { row, column: column % Math.max(1, panel.grid.columns) };
    case "pool":
      return { column };
    default:
      return { row, column };
  }
}
