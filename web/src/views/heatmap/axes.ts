/**
 * The tokens of both axes, one store for each side of the recording.
 *
 * In:   a source, a map.
 * Out:  axes whose tokens come when they are asked for.
 */

import type { MapDescription, SideName } from "../../api/types";
import { axisOf } from "../../core/maps";
import type { RecordingSource } from "../../core/source";
import { SideTokens } from "../../data/side_tokens";
import type { Axis } from "../../marks/heat_axes";

/** An axis that can also say which of its tokens are special. */
type MapAxis = Axis & { readonly tokens: SideTokens };

export interface Axes {
  readonly query: MapAxis;
  readonly key: MapAxis;
}

export class AxisTokens {
  private readonly stores = new Map<SideName, SideTokens>();

  constructor(
    private readonly source: RecordingSource,
    private readonly arrived: () => void,
  ) {}

  of(map: MapDescription): Axes {
    return { query: this.axis(map, "query"), key: this.axis(map, "key") };
  }

  dispose(): void {
    for (const store of this.stores.values()) store.dispose();
  }

  private axis(map: MapDescription, which: "query" | "key"): MapAxis {
    const [side, start, count] = axisOf(map, which);
    let tokens = this.stores.get(side);
    if (tokens === undefined) {
      tokens = new SideTokens(this.source, side, this.arrived);
      this.stores.set(side, tokens);
    }
    return { tokens, start, count };
  }
}

/** Whether the first names are here. */
export function areNamed({ query, key }: Axes): boolean {
  return [query, key].every(({ tokens, start }) => tokens.get(start) !== undefined);
}
