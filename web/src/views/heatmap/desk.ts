/**
 * Everything around a heat map's plot: heading, controls, legend, notes and the pinned cell.
 *
 * In:   words, options and what they change.
 * Out:  elements; `show` brings them up to date.
 */

import { digits } from "../../core/formats";
import type { How, Scale } from "../../data/heat_supply";
import { choice, list } from "../../marks/controls";
import { Legend, type LegendWords } from "../../marks/legend";
import { make, write } from "../../marks/make";
import { type Reading, Readout } from "./readout";
import type { Options } from "./settings";
import type { Leave, ShownMap, Words } from "./shown_map";

const POOLED = 256; // tokens up to which a pixel hardly ever shows more than one weight

export class Desk {
  readonly element: HTMLElement;
  private readonly heading = make("h2", { class: "heat-heading" });
  private readonly note = make("p", { class: "heat-note" });
  private readonly status = make("p", { class: "heat-status" });
  private readonly hint: HTMLElement;
  private readonly pinned: Readout;
  private readonly legend = new Legend();
  private readonly pool: HTMLElement;
  private readonly put: (options: Options) => void;

  constructor(
    private readonly say: Words,
    area: HTMLElement,
    options: Options,
    changed: (name: "scale" | "pool" | "leave", value: string) => void,
  ) {
    const scale = choice<Scale>(
      () => say.colours,
      [
        { value: "absolute", text: () => say.absolute },
        { value: "map", text: () => say.perMap },
        { value: "row", text: () => say.perRow },
      ],
      options.scale,
      (value) => changed("scale", value),
    );
    const how = choice<How>(
      () => say.pool,
      [
        { value: "mean", text: () => say.mean },
        { value: "max", text: () => say.max },
      ],
      options.how,
      (value) => changed("pool", value),
    );
    const leaves = [
      { value: "none" as const, text: () => say.leaveNone },
      { value: "first" as const, text: () => say.leaveFirst },
      { value: "special" as const, text: () => say.leaveSpecial },
    ];
    const leave = list<Leave>(
      () => say.leave,
      [{ label: null, options: leaves }],
      options.leave,
      (value) => changed("leave", value),
    );
    this.put = (now) => {
      scale.set(now.scale);
      how.set(now.how);
      leave.set(now.leave);
    };
    this.pool = how.element;
    this.pinned = new Readout(say);
    this.hint = make("p", { class: "heat-hint" }, () => say.nothing);
    const side = make(
      "div",
      { class: "heat-side" },
      this.legend.element,
      this.status,
      this.note,
      this.pinned.element,
      this.hint,
    );
    const bar = make("div", { class: "heat-bar" }, this.heading, scale.element, how.element, leave.element);
    this.element = make("div", { class: "heat" }, bar, make("div", { class: "heat-body" }, area, side));
    this.pinned.element.hidden = true;
  }

  set(options: Options): void {
    this.put(options);
  }

  /** What is on show, and the selected cell. */
  show(shown: ShownMap, table: Uint8Array, pinned: Reading | null): void {
    const { say } = this;
    const { supply, top } = shown;
    write(this.heading, shown.name(say));
    this.pool.hidden = Math.max(shown.extent.queries, shown.extent.keys) <= POOLED && shown.side === 1;
    this.legend.show(
      table,
      typeof top === "number" ? top : 1,
      typeof top !== "number",
      legendWords(shown, say),
    );
    const parts = [];
    if (shown.side > 1) parts.push(say.pixel(shown.side, say[shown.how]));
    if (supply.missing > 0) parts.push(say.coming(supply.missing));
    write(this.status, parts.join(" · "));
    const notes = { average: say.coarseAverage, statistics: say.coarseStatistics };
    write(this.note, supply.coarse === null ? "" : notes[supply.coarse]);
    this.note.hidden = supply.coarse === null;
    this.pinned.element.hidden = pinned === null;
    this.hint.hidden = pinned !== null;
    if (pinned !== null) this.pinned.show(pinned);
  }
}

export function legendWords({ mask, top }: ShownMap, say: Words): LegendWords {
  const rows = typeof top !== "number";
  const keys = [];
  if (mask.causal !== null || mask.rows !== null) keys.push({ text: say.masked, falling: false });
  if (mask.left !== null) keys.push({ text: say.leftOut, falling: true });
  return {
    note: rows ? `${say.rowShare} · ${say.root}` : say.root,
    said: say.legend(rows ? say.rowShare : digits(top, 3)),
    keys,
  };
}
