/**
 * One map and head on show: its cells, tokens, masks and exact weights, thrown away together.
 *
 * In:   a recording, a map, a head or average.
 * Out:  what is drawn now, and what is known of any cell.
 */

import type { MapDescription } from "../../api/types";
import { digits } from "../../core/formats";
import type { Extent, Mask, Placement, Top } from "../../core/heat";
import type { Head } from "../../core/maps";
import type { RecordingSource } from "../../core/source";
import { Exact } from "../../data/heat_exact";
import {
  causalOf,
  type How,
  type Look,
  Peaks,
  readMask,
  type Scale,
  type TileSource,
  weightShown,
} from "../../data/heat_tiles";
import type { Axis } from "../../marks/heat_axes";
import type { Cell } from "../../marks/heat_overlay";
import type { Axes } from "./axes";
import type { Reading } from "./readout";
import type { HeatmapOptions } from "./settings";
import type { Words } from "./words";

type Leave = HeatmapOptions["leave"];
export class ShownMap {
  readonly extent: Extent;
  readonly exact: Exact;
  placements: readonly Placement[] = [];
  top: Top = 1;
  mask: Mask;
  leave: Leave = "none";
  private asked = 0; // masks and special tokens on their way
  private peaks = new Peaks(null);

  constructor(
    private readonly source: RecordingSource,
    readonly map: MapDescription,
    readonly head: Head,
    readonly how: How,
    readonly axes: Axes,
    readonly tiles: TileSource,
    private readonly changed: (cells: boolean) => void, // false: nothing but what is waited for
  ) {
    this.extent = { queries: map.queries, keys: map.keys };
    this.exact = new Exact(source, map, head, () => changed(true));
    this.mask = { causal: causalOf(map), rows: null, left: null };
  }

  /** How many weights a pixel covers, each way. */
  get side(): number {
    return 2 ** (this.placements[0]?.tile.level ?? 0);
  }

  get signed(): boolean {
    return this.placements.some(({ tile }) => tile.zero > 0);
  }

  /** How a pixel shows several cells. */
  pooling(say: Words): string {
    return this.signed && this.how === "max" ? say.extreme : say[this.how];
  }

  /** What is drawn may change yet without anybody's doing. */
  get waiting(): boolean {
    return this.asked > 0;
  }

  /** Rows where more is masked than the causal rule says; without statistics only that rule is known. */
  async learnMask(): Promise<void> {
    this.asked += 1;
    const before = this.mask.rows;
    try {
      const known = await readMask(this.source, this.map, this.head);
      this.mask = { ...this.mask, ...known };
    } catch {
      // the causal rule stays
    }
    this.asked -= 1;
    this.changed(this.mask.rows !== before);
  }

  /** Keys that do not count for the scale, and are not shown. */
  async leaveOut(leave: Leave): Promise<void> {
    if (leave === this.leave) return;
    this.leave = leave;
    let left: Uint8Array | null = null;
    if (leave !== "none") {
      const { tokens, start, count } = this.axes.key;
      left = new Uint8Array(count);
      this.asked += 1;
      const chosen = leave === "first" ? [0] : await tokens.specials().catch(() => []);
      this.asked -= 1;
      for (const token of chosen) if (token >= start && token < start + count) left[token - start] = 1;
    }
    if (this.leave !== leave) return;
    this.mask = { ...this.mask, left };
    this.peaks = new Peaks(left);
    this.changed(true);
  }

  /** Ask for what a look needs, and take what is there. */
  look(look: Look, scale: Scale): void {
    this.placements = this.tiles.placements(look);
    this.top = this.peaks.top(scale, this.placements, this.extent);
  }

  /** What is known of a cell now. */
  read({ query, key }: Cell, say: Words): Reading {
    const { axes, exact, mask } = this;
    const token = (axis: Axis, cell: number) => ({
      number: axis.start + cell,
      text: axis.tokens.get(axis.start + cell, axis.count > 4096) ?? "…",
    });
    const both = {
      query: token(axes.query, query),
      side: axes.reading ?? ("query" as const),
      key: token(axes.key, key),
    };
    const seen = weightShown(this.placements, query, key);
    const side = 2 ** (seen?.level ?? 0);
    const pooled =
      side > 1 && seen !== null ? say.pooled(side, this.pooling(say), digits(seen.weight, 2)) : null;
    const sure = exact.get(query, key);
    const hidden = mask.causal !== null && key > query + mask.causal;
    if ((hidden && !sure) || (sure === 0 && mask.rows?.[query]))
      return { ...both, weight: null, kind: "masked", pooled };
    if (sure !== undefined)
      return { ...both, weight: sure, kind: exact.approximate ? "drawn" : "exact", pooled };
    const weight = side > 1 ? null : (seen?.weight ?? null);
    return { ...both, weight, kind: exact.available ? "coming" : "drawn", pooled };
  }

  name(say: Words): string {
    const { map, head } = this;
    const which =
      head === "model" ? say.modelMean : head === "mean" ? say.layerMean(map.heads) : say.head(head);
    const step = map.place.step === null ? [] : [say.step(map.place.step)];
    return [say.map(map.place.stack, map.place.layer, map.place.kind), ...step, which].join(" · ");
  }

  dispose(): void {
    this.tiles.dispose();
  }
}
