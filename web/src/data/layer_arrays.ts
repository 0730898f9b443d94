/**
 * The arrays of a layer, a block at a time: what the values table looks at.
 *
 * In:   a name (hidden, queries, keys, values, scores, attention), a map and head.
 * Out:  Grid: its size, what its rows are, and a value for each cell, or nothing until its block is here.
 */

import { asFloats, tensor } from "../api/frames";
import type { Distribution, RowSide, SideName } from "../api/types";
import type { Focus } from "../core/focus";
import { type RecordingSource, Refusal } from "../core/source";

export const ARRAYS = ["hidden", "queries", "keys", "values", "scores", "attention"] as const;
export type ArrayName = (typeof ARRAYS)[number];

const DOWN = 128; // rows of a block
const ACROSS = 256; // columns of a block of scores or weights
const MOST = 16 << 20; // numbers of vectors that come at once

export interface Grid {
  readonly rows: number;
  readonly columns: number;
  readonly side: RowSide; // whose tokens the rows are
  readonly start: number; // the token of row 0
  readonly keys: { readonly side: SideName; readonly start: number } | null; // whose tokens the columns are
  /** Null until it is here; then `arrived` is called. */
  value(row: number, column: number): number | null;
}

export const DISTRIBUTIONS = [
  "hidden",
  "queries",
  "keys",
  "values",
  "scores_unscaled",
  "scores",
  "attention",
  "hiddenAfter", // hidden states that leave the layer
] as const;
export type DistributionName = (typeof DISTRIBUTIONS)[number];

/** What has to be kept for a distribution, where it was not; null where it was. */
export function notKept(name: DistributionName, { map }: Focus, source: RecordingSource): string | null {
  const layer = map.place.layer + (name === "hiddenAfter" ? 1 : 0);
  const hidden = source.description.hidden.find(({ stack }) => stack === map.place.stack);
  const [kept, want] = {
    hidden: [hidden !== undefined && layer < hidden.layers, "hidden"] as const,
    queries: [map.has_queries, "queries"] as const,
    keys: [map.has_keys, "keys"] as const,
    values: [map.has_values, "values"] as const,
    scores: [map.has_scores, "scores"] as const,
    attention: [map.has_weights, "weights"] as const,
  }[name === "hiddenAfter" ? "hidden" : name === "scores_unscaled" ? "scores" : name];
  return kept ? null : want;
}

/** A distribution of one head or all, or why it is refused. */
export async function readDistribution(
  source: RecordingSource,
  name: DistributionName,
  { map, head }: Focus,
  bins: number,
): Promise<Distribution | Refusal> {
  const { stack, layer } = map.place;
  try {
    if (name === "hidden" || name === "hiddenAfter")
      return await source.distribution("hidden", { stack, layer: layer + (name === "hidden" ? 0 : 1), bins });
    return await source.distribution(name, { map: map.place, bins, ...(head === null ? {} : { head }) });
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** Why an array cannot be shown: what has to be kept, or how large it is; null when it can. */
export function missing(name: ArrayName, focus: Focus, source: RecordingSource): string | number | null {
  const { map } = focus;
  const want = notKept(name, focus, source);
  if (want !== null) return want;
  const size = (name === "queries" ? map.queries : map.keys) * (map.head_width ?? 64);
  return ["queries", "keys", "values"].includes(name) && size > MOST ? size : null;
}

export function openArray(
  name: ArrayName,
  { map, oneHead, head, rowSide }: Focus,
  source: RecordingSource,
  arrived: () => void,
  failed: (error: unknown) => void,
): Grid {
  const whose = { side: rowSide, start: map.query_start };
  const keys = { side: map.key_side, start: map.key_start };
  if (name === "hidden") {
    const hidden = source.description.hidden.find(({ stack }) => stack === map.place.stack)!;
    const fetch = async (top: number, bottom: number) =>
      asFloats(
        tensor(await source.hidden(map.place.stack, map.place.layer, [top, bottom], "float32"), "states"),
      );
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
          ? await source.scores(map.place, { head: oneHead, ...part })
          : await source.weights(map.place, { head: head ?? "mean", ...part }, "float32");
      return asFloats(tensor(frame, name === "scores" ? "scores" : "weights"));
    };
    const size = { rows: map.queries, columns: map.keys };
    return { ...size, ...whose, keys, value: blocks(size, ACROSS, fetch, arrived, failed) };
  }
  const rows = name === "queries" ? map.queries : map.keys;
  const columns = map.head_width ?? 64;
  let held: Float32Array | null = null;
  let width = columns;
  source.vectors(map.place, name, oneHead).then((frame) => {
    const found = tensor(frame, name);
    held = asFloats(found);
    width = found.shape.at(-1) ?? columns; // values may be wider than keys
    arrived();
  }, failed);
  const value = (row: number, column: number) => held?.[row * width + column] ?? null;
  return { rows, columns, ...(name === "queries" ? whose : keys), keys: null, value };
}

/** From where to where the colours of an array go: its ends, or four deviations, so that a few outliers do not take all. */
export async function readReach(
  source: RecordingSource,
  name: ArrayName,
  focus: Focus,
): Promise<readonly [number, number]> {
  const found = await readDistribution(source, name, focus, 8);
  if (found instanceof Refusal) return [-1, 1]; // the numbers themselves may still be there
  const { minimum, maximum, deviation, mean } = found;
  if (name === "attention") return [0, maximum ?? 1];
  const ends = Math.max(Math.abs(minimum ?? 1), Math.abs(maximum ?? 1));
  const reach = Math.min(ends, Math.abs(mean ?? 0) + 4 * (deviation ?? 1));
  return [-reach, reach];
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
