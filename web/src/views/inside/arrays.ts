/**
 * The arrays of a layer, a block at a time: what the values table looks at.
 *
 * In:   a name (hidden, queries, keys, values, scores, attention), a map and head.
 * Out:  Grid: its size, what its rows are, and a value for each cell, or nothing until its block is here.
 */

import { asFloats, tensor } from "../../api/frames";
import type { SideName } from "../../api/types";
import type { RecordingSource } from "../../core/source";
import type { Focus } from "./panel";

export const ARRAYS = ["hidden", "queries", "keys", "values", "scores", "attention"] as const;
export type ArrayName = (typeof ARRAYS)[number];

const DOWN = 128; // rows of a block
const ACROSS = 256; // columns of a block of scores or weights
const MOST = 16 << 20; // numbers of vectors that come at once

export interface Grid {
  readonly rows: number;
  readonly columns: number;
  readonly side: SideName; // whose tokens the rows are
  readonly start: number; // the token of row 0
  readonly keys: { readonly side: SideName; readonly start: number } | null; // whose tokens the columns are
  /** Null until it is here; then `arrived` is called. */
  value(row: number, column: number): number | null;
}

/** Why an array cannot be shown: it was not kept, or it is too large; null when it can. */
export function missing(name: ArrayName, { map }: Focus, source: RecordingSource): "kept" | number | null {
  const hidden = source.description.hidden.find(({ stack }) => stack === map.stack);
  const kept = {
    hidden: hidden !== undefined,
    queries: map.has_queries,
    keys: map.has_keys,
    values: map.has_values,
    scores: map.has_scores,
    attention: map.has_weights,
  }[name];
  if (!kept) return "kept";
  const size = (name === "queries" ? map.queries : map.keys) * (map.head_width ?? 64);
  return ["queries", "keys", "values"].includes(name) && size > MOST ? size : null;
}

export function openArray(
  name: ArrayName,
  { map, oneHead, head }: Focus,
  source: RecordingSource,
  arrived: () => void,
  failed: (error: unknown) => void,
): Grid {
  const whose = { side: map.query_side, start: map.query_start };
  const keys = { side: map.key_side, start: map.key_start };
  if (name === "hidden") {
    const hidden = source.description.hidden.find(({ stack }) => stack === map.stack)!;
    const fetch = async (top: number, bottom: number) =>
      asFloats(tensor(await source.hidden(map.stack, map.layer, [top, bottom], "float32"), "states"));
    const size = { rows: hidden.tokens, columns: hidden.width };
    return {
      ...size,
      side: hidden.side,
      start: 0,
      keys: null,
      value: blocks(size, size.columns, fetch, arrived, failed),
    };
  }
  if (name === "scores" || name === "attention") {
    const fetch = async (top: number, bottom: number, left: number, right: number) => {
      const part = { queries: [top, bottom], keys: [left, right] } as const;
      const frame =
        name === "scores"
          ? await source.scores(map, { head: oneHead, ...part })
          : await source.weights(map, { head: head ?? "mean", ...part }, "float32");
      return asFloats(tensor(frame, name === "scores" ? "scores" : "weights"));
    };
    const size = { rows: map.queries, columns: map.keys };
    return { ...size, ...whose, keys, value: blocks(size, ACROSS, fetch, arrived, failed) };
  }
  const rows = name === "queries" ? map.queries : map.keys;
  const columns = map.head_width ?? 64;
  let held: Float32Array | null = null;
  let width = columns;
  source.vectors(map, name, oneHead).then((frame) => {
    const found = tensor(frame, name);
    held = asFloats(found);
    width = found.shape.at(-1) ?? columns; // values may be wider than keys
    arrived();
  }, failed);
  const value = (row: number, column: number) => held?.[row * width + column] ?? null;
  return { rows, columns, ...(name === "queries" ? whose : keys), keys: null, value };
}

type Fetch = (top: number, bottom: number, left: number, right: number) => Promise<Float32Array>;

/** Blocks that are fetched when a cell of theirs is looked at. */
function blocks(
  size: { readonly rows: number; readonly columns: number },
  across: number,
  fetch: Fetch,
  arrived: () => void,
  failed: (error: unknown) => void,
): Grid["value"] {
  const held = new Map<string, Float32Array | null>();
  return (row, column) => {
    const [top, left] = [Math.floor(row / DOWN) * DOWN, Math.floor(column / across) * across];
    const name = `${top} ${left}`;
    const wide = Math.min(across, size.columns - left);
    const block = held.get(name);
    if (block === undefined) {
      held.set(name, null);
      fetch(top, Math.min(size.rows, top + DOWN), left, left + wide).then((floats) => {
        held.set(name, floats);
        arrived();
      }, failed);
    }
    return block?.[(row - top) * wide + column - left] ?? null;
  };
}
