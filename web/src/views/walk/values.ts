/**
 * Tables of numbers with names for rows and columns: what the pictures of a step show.
 *
 * In:   tables of the trace.
 * Out:  Grid: rows × columns of numbers, with a colour range.
 */

import { digits, fixed } from "../../core/formats";
import type { Theme } from "../../core/view";
import type { Table } from "../../data/walk_arrays";
import { diverging, inkOn as inkOnColour, sequential } from "../../marks/colours";
import { inks } from "../../marks/paper";

export type Naming = (index: number) => string;

export interface Grid extends Table {
  readonly row: Naming | null;
  readonly column: Naming | null;
  readonly signed: boolean; // colours run both ways from nothing
  readonly limit: number; // where colours end
}

/** Where colours end: few outliers must not make everything else pale, so 1 % of large tables may lie beyond. */
export function limitOf(values: Float32Array): number {
  const step = Math.max(1, Math.floor(values.length / 8192));
  const sizes: number[] = [];
  for (let at = 0; at < values.length; at += step) {
    const size = Math.abs(values[at]!);
    if (Number.isFinite(size)) sizes.push(size);
  }
  if (sizes.length === 0) return 1;
  sizes.sort((one, other) => one - other);
  const place = sizes.length > 400 ? Math.floor(sizes.length * 0.99) : sizes.length - 1;
  return sizes[place] || sizes.at(-1) || 1;
}

export function grid(
  table: Table,
  names: { row?: Naming | null; column?: Naming | null; share?: boolean } = {},
): Grid {
  return {
    ...table,
    row: names.row ?? null,
    column: names.column ?? null,
    signed: names.share !== true,
    limit: names.share === true ? 1 : limitOf(table.values),
  };
}

/** The place of a value in the 256 colours; null: masked or unknown. */
export function place({ signed, limit }: Grid, value: number): number | null {
  if (!Number.isFinite(value)) return null;
  const share = Math.max(-1, Math.min(1, value / limit));
  return signed ? 127.5 + 127.5 * share : 255 * Math.sqrt(Math.max(0, share));
}

/** A grid as pixels, one a cell; masked cells are clear. */
export function paint(of: Grid, theme: Theme): Uint8ClampedArray<ArrayBuffer> {
  const table = coloursOf(of, theme);
  const pixels = new Uint8ClampedArray(4 * of.values.length);
  for (let at = 0; at < of.values.length; at++) {
    const where = place(of, of.values[at]!);
    if (where === null) continue;
    const colour = 3 * Math.round(where);
    pixels[4 * at] = table[colour]!;
    pixels[4 * at + 1] = table[colour + 1]!;
    pixels[4 * at + 2] = table[colour + 2]!;
    pixels[4 * at + 3] = 255;
  }
  return pixels;
}

/** The 256 colours of a grid. */
export function coloursOf({ signed }: Grid, theme: Theme): Uint8Array {
  return signed ? diverging(theme) : sequential(theme);
}

/** Ink that can be read on a cell. */
export function inkOn(of: Grid, value: number, theme: Theme): string {
  const where = place(of, value);
  return where === null ? inks(theme).ink : inkOnColour(coloursOf(of, theme), where);
}

/** A number short enough for a cell. */
export function brief(value: number): string {
  const size = Math.abs(value);
  if (!(size < 1e5) || value === 0 || value === 1) return digits(value, 2);
  return fixed(value, size < 10 ? 2 : size < 100 ? 1 : 0);
}

/** 7 × 64 */
export function shapeText(shape: readonly number[]): string {
  return shape.join(" × ");
}

const MOST_COLUMNS = 128; // of a data table

/** A matrix as a data table; what is not finite is left out. */
export function tabulate({ rows, columns, values, row, column }: Grid): {
  readonly columns: string[];
  readonly rows: (string | number | null)[][];
} {
  const across = Array.from({ length: Math.min(columns, MOST_COLUMNS) }, (_, at) => at);
  return {
    columns: across.map((at) => column?.(at) ?? String(at)),
    rows: Array.from({ length: rows }, (_, at) => [
      row?.(at) ?? String(at),
      ...across.map((place) => {
        const value = values[at * columns + place]!;
        return Number.isFinite(value) ? value : null;
      }),
    ]),
  };
}

/** The place of the finite number of largest size. */
export function brightest(values: Float32Array): number {
  let best = 0;
  const size = (at: number) => (Number.isFinite(values[at]) ? Math.abs(values[at]!) : 0);
  for (let at = 1; at < values.length; at++) if (size(at) > size(best)) best = at;
  return best;
}
