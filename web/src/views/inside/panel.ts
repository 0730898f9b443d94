/**
 * What the panels of the inside view share: the map and head they look at, and what a panel can do.
 *
 * In:   the stage.
 * Out:  InsidePanel, Focus.
 */

import type { MapDescription } from "../../api/types";
import { headNumber } from "../../core/focus";
import { chooseMap } from "../../core/maps";
import type { Kept, Stage, TableData } from "../../core/view";
import type { words } from "./words";

/** A drawing for a picture: its body, and lines for the caption. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly body: string;
  readonly title: string;
  readonly lines: readonly string[];
}

export interface InsidePanel {
  readonly element: HTMLElement;
  update(): void;
  resize(): void;
  picture(): Promise<Drawing>;
  table(): Promise<TableData>;
  /** What goes on when the view is mounted anew; given to the same panel as `stage.kept`. */
  keep?(): Kept | null;
  unmount(): void;
}

export type Words = ReturnType<typeof words>;

/** The map and head in focus; an average has no vectors, so its first head stands in. */
export interface Focus {
  readonly map: MapDescription;
  readonly head: number | null;
  readonly oneHead: number;
  readonly query: number; // row of the map
  readonly key: number | null; // column, where one is chosen
}

export function focusOf(stage: Stage): Focus {
  const selection = stage.selection.get();
  const map = chooseMap(stage.source.description, selection)!;
  const head = headNumber(map, selection.head);
  const query = selection.query === null ? map.queries - 1 : selection.query - map.query_start;
  return {
    map,
    head,
    oneHead: head ?? 0,
    query: Math.max(0, Math.min(map.queries - 1, query)),
    key: selection.key === null ? null : Math.max(0, Math.min(map.keys - 1, selection.key - map.key_start)),
  };
}

/** Whether an error only says that nobody waits any more. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
