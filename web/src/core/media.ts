/**
 * Which tokens of a map were cut from a picture or a sound, and where they lie in it.
 *
 * In:   a description, a map.
 * Out:  the patches or the seconds of an axis.
 */

import type {
  Description,
  MapDescription,
  PictureDescription,
  SideName,
  SoundDescription,
} from "../api/types";
import { axisOf } from "./maps";
import type { Message, Parameter } from "./messages";

type Axis = "query" | "key";

/** Where axes stand: in the texts, or in what a part of the model reads. */
export const SIDES: readonly SideName[] = ["source", "target", "part", "part2", "part3"];

/** The tokens of an axis on their picture. */
export interface Patches {
  readonly side: SideName;
  readonly picture: PictureDescription;
  readonly cells: readonly number[]; // by row of the axis; -1: none
  readonly rowAt: Int32Array; // by cell: the row of the axis; -1: none
}

/** Whether a token of an axis is a patch, asked of every map: nothing is copied. */
export function hasPatches(description: Description, map: MapDescription, axis: Axis): boolean {
  const cells = description[axis === "query" ? map.query_side : map.key_side]?.picture?.cells;
  const [start, count] = axisOf(map, axis);
  return cells?.some((cell, at) => cell >= 0 && at >= start && at < start + count) ?? false;
}

/** The patches of an axis; null where none of its tokens is one. */
export function patchesOf(description: Description, map: MapDescription, axis: Axis): Patches | null {
  const side = axis === "query" ? map.query_side : map.key_side;
  const picture = description[side]?.picture;
  if (!picture || !hasPatches(description, map, axis)) return null;
  const [start, count] = axisOf(map, axis);
  const cells = picture.cells.slice(start, start + count);
  const rowAt = new Int32Array(picture.rows * picture.columns).fill(-1);
  for (let row = cells.length - 1; row >= 0; row--) if (cells[row]! >= 0) rowAt[cells[row]!] = row;
  return { side, picture, cells, rowAt };
}

/** The patch or frame that a selection keeps: what is looked at where both are; null where neither is one. */
export function partInFocus(
  description: Description,
  map: MapDescription,
  { query, key }: { readonly query: number | null; readonly key: number | null },
): { readonly side: SideName; readonly token: number; readonly kind: "picture" | "sound" } | null {
  for (const [side, token] of [
    [map.key_side, key],
    [map.query_side, query],
  ] as const) {
    const { picture, sound } = description[side] ?? {};
    if (token !== null && (picture?.cells[token] ?? -1) >= 0) return { side, token, kind: "picture" };
    if (token !== null && (sound?.spans[token]?.[0] ?? -1) >= 0) return { side, token, kind: "sound" };
  }
  return null;
}

/** The patches and moments that were cut out: hidden from all other tokens, in every layer and head. */
export function cutOut({ evidence }: Description): readonly number[] {
  const codeOf = (value: Parameter | undefined): string =>
    typeof value === "object" && value !== null && "code" in value ? value.code : "";
  return evidence.messages.edits.flatMap(({ code, parameters: { key, head, place } }) => {
    const everywhere =
      code === "recorders.edits.key_cut" &&
      codeOf(head) === "recorders.edits.every_head" &&
      codeOf((place as Message).parameters.layer) === "recorders.edits.every_layer";
    const named = ["recorders.edits.patch", "recorders.edits.moment"].includes(codeOf(key));
    return everywhere && named ? [Number((key as Message).parameters.number)] : [];
  });
}

/** Seconds of a frame; the first and the last one may be shorter. */
export function frameSeconds({ spans }: Pick<SoundDescription, "spans">): number {
  return Math.max(0, ...spans.map(([from, to]) => to - from));
}

/** The tokens of an axis in their sound. */
export interface Frames {
  readonly side: SideName;
  readonly sound: SoundDescription;
  readonly spans: readonly (readonly [from: number, to: number])[]; // by row of the axis; below 0: none
}

/** The frames of an axis; null where none of its tokens is one. */
export function framesOf(description: Description, map: MapDescription, axis: Axis): Frames | null {
  const side = axis === "query" ? map.query_side : map.key_side;
  const sound = description[side]?.sound;
  if (!sound) return null;
  const [start, count] = axisOf(map, axis);
  const spans = sound.spans.slice(start, start + count);
  return spans.some(([from]) => from >= 0) ? { side, sound, spans } : null;
}

/** A part of the time of a sound, and the row of the axis that hears it. */
export interface TimeCell {
  readonly row: number;
  readonly from: number; // seconds
  readonly to: number;
}

/** The time divided among the frames of an axis, in its order: each has what is nearest to its middle. */
export function divideTime({ spans, sound }: Frames): readonly TimeCell[] {
  const heard = spans
    .map(([from, to], row) => ({ row, from, to, middle: (from + to) / 2 }))
    .filter(({ from }) => from >= 0)
    .sort((one, other) => one.middle - other.middle);
  return heard.map(({ row, from, to, middle }, at) => {
    const [before, after] = [heard[at - 1], heard[at + 1]];
    return {
      row,
      from: before ? (before.middle + middle) / 2 : Math.max(0, from),
      to: after ? (middle + after.middle) / 2 : Math.min(sound.seconds, to),
    };
  });
}

/** The cell of a second; null where nobody hears it. */
export function cellAt(cells: readonly TimeCell[], second: number): TimeCell | null {
  return cells.find(({ from, to }) => second >= from && second < to) ?? null;
}
