/**
 * Which map: families (stack and kind), layers and steps of a recording, and the way from one to the other.
 *
 * In:   a Description and a wish.
 * Out:  a selection that the recording has.
 */

import type { Description, Kind, MapDescription, RowSide } from "../api/types";
import { type Place, samePlace } from "./place";
import { rowSideOf } from "./reading";
import type { Fit, Selection } from "./selection";

/** All maps of one stack and kind: what the model average averages. */
export interface Family {
  readonly stack: string;
  readonly kind: Kind;
}

export function familiesOf(maps: readonly MapDescription[]): readonly Family[] {
  const families = new Map<string, Family>();
  for (const {
    place: { stack, kind },
  } of maps)
    families.set(`${stack} ${kind}`, { stack, kind });
  return [...families.values()];
}

/** The layers that were recorded in the map's family, at its step. */
export function layersOf(maps: readonly MapDescription[], map: Place): readonly number[] {
  const layers = new Set<number>();
  for (const each of maps) if (related(each.place, map)) layers.add(each.place.layer);
  return [...layers].sort((a, b) => a - b);
}

/** The generation steps in which the map's layer was recorded; empty when the map shows everything at once. */
export function stepsOf(maps: readonly MapDescription[], map: Place): readonly number[] {
  const steps = new Set<number>();
  for (const each of maps) {
    if (each.place.step !== null && related(each.place, map) && each.place.layer === map.layer)
      steps.add(each.place.step);
  }
  return [...steps].sort((a, b) => a - b);
}

/** The map nearest to a wish: the family first, then the step, then the layer. */
export function findMap(maps: readonly MapDescription[], wish: Place): MapDescription | undefined {
  let best: MapDescription | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const each of maps) {
    if (each.place.stack !== wish.stack || each.place.kind !== wish.kind) continue;
    const late =
      each.place.step === wish.step ? 0 : Math.abs((each.place.step ?? 0) - (wish.step ?? 0)) + 0.5;
    const cost = late * 1000 + Math.abs(each.place.layer - wish.layer);
    if (cost < least) {
      least = cost;
      best = each;
    }
  }
  return best;
}

function related(a: Family, b: Family): boolean {
  return a.stack === b.stack && a.kind === b.kind;
}

/** Keeps a selection within a recording: what is not there is moved to the nearest that is, or let go. */
export function fitTo(description: Description): Fit {
  const { maps } = description;
  return ({ map: index, ...wish }, before, changed) => {
    let map =
      wish.place === null
        ? maps[Math.min(index ?? 0, maps.length - 1)]
        : (findMap(maps, wish.place) ?? maps[0]);
    if (!map) return { ...wish, place: null, head: 0, query: null, key: null };
    const stepped = map.place.step !== null;
    let { query, key, step } = wish;
    if (stepped && changed.step !== undefined && changed.place === undefined && step !== null) {
      map = findMap(maps, { ...map.place, step }) ?? map;
    }
    const previous = before.place && chooseMap(description, before);
    if (previous && changed.place !== undefined) {
      if (previous.query_side !== map.query_side && changed.query === undefined) query = null;
      if (previous.key_side !== map.key_side && changed.key === undefined) key = null;
    }
    if (stepped) {
      step = map.place.step;
      if (map.queries === 1) query = map.query_start;
    } else if (changed.step !== undefined && changed.query === undefined) {
      query = step;
    }
    query = within(query, map.query_start, map.queries);
    key = within(key, map.key_start, map.keys);
    if (!stepped) step = query;
    const head = typeof wish.head === "number" ? Math.min(Math.max(wish.head, 0), map.heads - 1) : wish.head;
    return { ...wish, place: map.place, head, query, key, step };
  };
}

function within(token: number | null, start: number, count: number): number | null {
  return token !== null && token >= start && token < start + count ? token : null;
}

export type Head = Selection["head"];

/** The map of the selection, or the first one. */
export function chooseMap(
  { maps }: Pick<Description, "maps">,
  { place }: { readonly place: Place | null },
): MapDescription | null {
  return maps.find((each) => samePlace(each.place, place)) ?? maps[0] ?? null;
}

/** A head that the map has: numbers too large become its last. */
export function chooseHead(map: MapDescription, head: Head): Head {
  return typeof head === "number" ? Math.max(0, Math.min(map.heads - 1, head)) : head;
}

/** The first token of an axis, and how many it has. */
export function axisOf(map: MapDescription, axis: "query" | "key"): readonly [start: number, count: number] {
  return axis === "query" ? [map.query_start, map.queries] : [map.key_start, map.keys];
}

/** Whose tokens name an axis; rows of cross-attention by the reading of the selection. */
export function sideOf(
  map: MapDescription,
  axis: "query" | "key",
  selection: Pick<Selection, "options">,
): RowSide {
  return axis === "query" ? rowSideOf(map, selection) : map.key_side;
}

/** The rows of a map that the selection's tokens are, counted on their axes; null where it has none of them. */
export function selectedRows(
  map: MapDescription,
  selection: Selection,
): Readonly<Record<"query" | "key", number | null>> {
  const row = (axis: "query" | "key") => {
    const [start, count] = axisOf(map, axis);
    const at = (selection[axis] ?? Number.NaN) - start;
    return at >= 0 && at < count ? at : null;
  };
  return { query: row("query"), key: row("key") };
}
