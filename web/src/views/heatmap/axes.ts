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
  private readonly sides: Readonly<Record<SideName, SideTokens>>;

  constructor(source: RecordingSource, arrived: () => void) {
    this.sides = {
      source: new SideTokens(source, "source", arrived),
      target: new SideTokens(source, "target", arrived),
    };
  }

  of(map: MapDescription): Axes {
    return { query: this.axis(map, "query"), key: this.axis(map, "key") };
  }

  dispose(): void {
    for (const tokens of Object.values(this.sides)) tokens.dispose();
  }

  private axis(map: MapDescription, which: "query" | "key"): MapAxis {
    const [side, start, count] = axisOf(map, which);
    return { tokens: this.sides[side], start, count };
  }
}

/** Whether the first names are here. */
export function areNamed({ query, key }: Axes): boolean {
  return [query, key].every(({ tokens, start }) => tokens.get(start) !== undefined);
}
