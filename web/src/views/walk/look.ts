/**
 * How a matrix looks: the size of its cells, and what there is room for.
 *
 * In:   a Grid and a Look.
 * Out:  sizes, on the screen and on paper alike.
 */

import type { Theme } from "../../core/view";
import type { make, Text } from "../../marks/make";
import { textWidth } from "../../marks/text";
import type { Grid } from "./values";

/** A part of the columns with a colour of its own: those of one head. */
export interface Band {
  readonly from: number;
  readonly to: number;
  readonly text: Text;
  colour(): string;
}

/** What is lit: a row, a column, or the cell where both meet. */
export interface Lit {
  readonly row?: number;
  readonly column?: number;
}

export interface Look {
  readonly symbol: string; // W_Q: what follows the underscore is set lower
  readonly about: Text;
  readonly shape?: readonly number[];
  readonly role: "input" | "parameter" | "result";
  readonly cellWidth: number;
  readonly cellHeight: number;
  readonly theme: Theme; // of the moment it is read
  readonly still: boolean;
  readonly bare?: boolean; // columns have no names: they stand above another matrix
  readonly bands?: readonly Band[];
  readonly board?: Parameters<typeof make>[1]; // attributes of what holds the cells
}

const NUMBER_WIDTH = 38; // pixels a cell needs for a number
const NUMBER_HEIGHT = 16;
export const NAME = 11; // pixels a cell needs for a name beside it
export const LABELS = 84; // pixels beside the rows

export interface Size {
  readonly width: number;
  readonly height: number;
  readonly numbers: boolean; // in the cells
  readonly rows: number; // every so many rows are named; 0: none
  readonly columns: boolean;
  readonly upright: boolean; // the name of some column
}

export function sizeOf(grid: Grid, { cellWidth, cellHeight, bare }: Look): Size {
  const columns = grid.column !== null && cellWidth >= NAME && bare !== true;
  return {
    width: Math.max(1, Math.round(grid.columns * cellWidth)),
    height: Math.max(1, Math.round(grid.rows * cellHeight)),
    numbers: cellWidth >= NUMBER_WIDTH && cellHeight >= NUMBER_HEIGHT,
    rows: grid.row === null ? 0 : Math.ceil(NAME / cellHeight),
    columns,
    upright:
      columns &&
      Array.from({ length: grid.columns }, (_, at) => at).some((at) => turns(grid.column!(at), cellWidth)),
  };
}

/** Whether the name of a column is too long to lie above it. */
export function turns(name: string, cellWidth: number): boolean {
  return textWidth(name, 11) + 2 > cellWidth;
}
