/**
 * Lines along the text: a statistic of every query, one line a head or layer.
 *
 * In:   statistics of maps, asked for when a row comes in sight.
 * Out:  small drawings; `arrived` is called when more can be drawn.
 */

import type { MapDescription } from "../../api/types";
import { samePlace } from "../../core/place";
import type { Stage } from "../../core/view";
import { readStatistics } from "../../data/measures";
import { make } from "../../marks/make";
import { SCREEN } from "../../marks/paper";
import { drawSparkline, reach } from "../../marks/sparkline";
import { ALONG, type Along } from "./choices";
import type { MeasureRow } from "./measures";

export class Sparks {
  private readonly statistics = new Map<string, ReadonlyMap<string, Float32Array> | "asked">();

  constructor(
    private readonly stage: Stage,
    private readonly arrived: () => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** The line of one row; empty until its statistics are here. */
  of(row: MeasureRow, along: Along): Node {
    const holder = make("span", { class: "spark" });
    const map = this.stage.source.description.maps.find(({ place }) => samePlace(place, row.place));
    if (map === undefined) return holder;
    const held = this.statistics.get(map.place.address);
    if (held !== undefined && held !== "asked")
      holder.append(this.line(map, row.head, held.get(along)!, along));
    else if (held === undefined) this.load(map);
    return holder;
  }

  private load(map: MapDescription): void {
    this.statistics.set(map.place.address, "asked");
    readStatistics(this.stage.source, map, ALONG).then((statistics) => {
      this.statistics.set(map.place.address, statistics);
      this.arrived();
    }, this.failed);
  }

  /** `all` is (head, query); without a head the mean of all. */
  private line(map: MapDescription, head: number | null, all: Float32Array, along: Along): SVGSVGElement {
    const { query, place } = this.stage.selection.get();
    const mark = query === null || !samePlace(map.place, place) ? null : query - map.query_start;
    const { queries, heads } = map;
    let values = all.subarray((head ?? 0) * queries, ((head ?? 0) + 1) * queries);
    if (head === null) {
      values = new Float32Array(queries);
      for (let at = 0; at < all.length; at++) values[at % queries] = values[at % queries]! + all[at]! / heads;
    }
    const tops = { entropy: Math.log(Math.max(2, map.keys)), peak: 1, above: null, distance: null } as const;
    return drawSparkline(values, {
      width: 120,
      height: 24,
      ink: SCREEN.soft,
      domain: [0, tops[along] ?? Math.max(reach(all)?.[1] ?? 1, 1e-9)],
      mark,
      markInk: SCREEN.accent,
    });
  }
}
