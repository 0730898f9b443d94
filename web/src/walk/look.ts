/**
 * How a matrix looks: the size of its cells, and what there is room for.
 *
 * In:   a Grid and a Look.
 * Out:  sizes, on the screen and on paper alike.
 */

import type { Theme } from "../view";
import type { Grid } from "./values";

/** What is lit: a row, a column, or the cell where both meet. */
export interface Lit {
  readonly row?: number;
  readonly column?: number;
}

export interface Look {
  readonly symbol: string; // W_Q: what follows the underscore is set lower
  readonly about: string;
  readonly shape?: readonly number[];
  readonly role: "input" | "parameter" | "result";
  readonly cellWidth: number;
  readonly cellHeight: number;
  readonly theme: Theme;
  readonly still: boolean;
  readonly bands?: readonly { from: number; to: number; colour: string; text: string }[];
}

const NUMBER_WIDTH = 38; // pixels a cell needs for a number
const NUMBER_HEIGHT = 16;
const NAME = 11; // pixels a cell needs for a name beside it
const LYING = 44; // pixels a column needs for a name that lies
export const LABELS = 84; // pixels beside the rows

export interface Size {
  readonly width: number;
  readonly height: number;
  readonly numbers: boolean; // in the cells
  readonly rows: boolean; // are named
  readonly columns: boolean;
  readonly upright: boolean; // the names of columns
}

export function sizeOf(grid: Grid, { cellWidth, cellHeight }: Look): Size {
  return {
    width: Math.max(1, Math.round(grid.columns * cellWidth)),
    height: Math.max(1, Math.round(grid.rows * cellHeight)),
    numbers: cellWidth >= NUMBER_WIDTH && cellHeight >= NUMBER_HEIGHT,
    rows: grid.row !== null && cellHeight >= NAME,
    columns: grid.column !== null && cellWidth >= NAME,
    upright: cellWidth < LYING,
  };
}
