/**
 * The tokens of both axes, one store for each side of the recording.
 *
 * In:   a source, a map.
 * Out:  axes whose tokens come when they are asked for.
 */

import type { MapDescription } from "../../api/types";
import { axisOf, sideOf } from "../../core/maps";
import { type Reading, readingOfMap } from "../../core/reading";
import type { Selection } from "../../core/selection";
import type { RecordingSource } from "../../core/source";
import { RecordingTokens, type SideTokens } from "../../data/side_tokens";
import type { Axis } from "../../marks/heat_axes";

/** An axis that can also say which of its tokens are special. */
type MapAxis = Axis & { readonly tokens: SideTokens };

export interface Axes {
  readonly query: MapAxis;
  readonly key: MapAxis;
  readonly reading: Reading | null; // of the rows, where there are two
}

export class AxisTokens {
  private readonly tokens: RecordingTokens;

  constructor(source: RecordingSource, arrived: () => void) {
    this.tokens = new RecordingTokens(source, arrived);
  }

  of(map: MapDescription, selection: Selection): Axes {
    const axis = (which: "query" | "key"): MapAxis => {
      const [start, count] = axisOf(map, which);
      return { tokens: this.tokens.of(sideOf(map, which, selection)), start, count };
    };
    return { query: axis("query"), key: axis("key"), reading: readingOfMap(map, selection) };
  }

  dispose(): void {
    this.tokens.dispose();
  }
}

/** Whether the first names are here. */
export function areNamed({ query, key }: Axes): boolean {
  return [query, key].every(({ tokens, start }) => tokens.get(start) !== undefined);
}
