/**
 * What names the rows of cross-attention: the word that a row writes, or the word that entered the decoder before it.
 *
 * In:   a map and the selection, whose option "map.reading" all views share.
 * Out:  the side whose tokens name the rows. Which maps can be read both ways, the server says (`row_side`).
 */

import type { MapDescription, RowSide } from "../api/types";
import { oneOf, readOptions, type Schema } from "./options";
import type { Selection } from "./selection";

export const READINGS = ["written", "entered"] as const;
export type Reading = (typeof READINGS)[number];

export const READING: Schema<{ readonly reading: Reading }> = { reading: oneOf(READINGS, "written") };

export function readingOf({ options }: Pick<Selection, "options">): Reading {
  return readOptions("map", READING, options).reading;
}

/** Whose tokens name the rows of a map: the only place where the page decides that. */
export function rowSideOf(map: MapDescription, selection: Pick<Selection, "options">): RowSide {
  return readingOf(selection) === "written" ? map.row_side : map.query_side;
}

/** How the rows of a map are read; null where there is only one way. */
export function readingOfMap(map: MapDescription, selection: Pick<Selection, "options">): Reading | null {
  return map.row_side === map.query_side ? null : readingOf(selection);
}
