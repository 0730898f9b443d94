/**
 * Everything around a heat map's plot: heading, controls, legend, notes and the pinned cell.
 *
 * In:   words, options and what they change.
 * Out:  elements; `show` brings them up to date.
 */

import { digits } from "../../core/formats";
import type { Options } from "../../core/options";
import type { Scale } from "../../data/heat_tiles";
import { Legend, type LegendWords } from "../../marks/legend";
import { make, write } from "../../marks/make";
import { OptionControls } from "../../marks/option_controls";
import { type Reading, Readout } from "./readout";
import type { HeatmapOptions } from "./settings";
import type { ShownMap } from "./shown_map";
import type { Words } from "./words";

const POOLED = 256; // tokens up to which a pixel hardly ever shows more than one weight

export class Panel {
  readonly element: HTMLElement;
  readonly follow: () => void; // the options
  private readonly heading = make("h2", { class: "heat-heading" });
  private readonly note = make("p", { class: "heat-note", hidden: true });
  private readonly status = make("p", { class: "heat-status" });
  private readonly hint: HTMLElement;
  private readonly pinned: Readout;
  private readonly legend = new Legend();
  private readonly pool: HTMLElement;

  constructor(
    private readonly say: Words,
    area: HTMLElement,
    options: Options<HeatmapOptions>,
    usual: () => Scale,
  ) {
    const controls = new OptionControls(options);
    this.follow = () => controls.follow();
    const scales = { absolute: () => say.absolute, map: () => say.perMap, row: () => say.perRow };
    const scale = controls.choice("scale", () => say.colours, scales, usual);
    this.pool = controls.choice("pool", () => say.pool, { mean: () => say.mean, max: () => say.max });
    const leaves = [
      { value: "none", text: () => say.leaveNone },
      { value: "first", text: () => say.leaveFirst },
      { value: "special", text: () => say.leaveSpecial },
    ];
    const leave = controls.list("leave", () => say.leave, [{ label: null, options: leaves }]);
    this.pinned = new Readout(say);
    this.hint = make("p", { class: "heat-hint" }, () => say.nothing);
    const side = make(
      "div",
      { class: "heat-side" },
      this.legend.element,
      make("div", { class: "heat-said" }, this.pinned.element, this.hint, this.status, this.note),
    );
    const bar = make("div", { class: "heat-bar drawn-bar" }, this.heading, scale, this.pool, leave);
    this.element = make("div", { class: "heat drawn" }, bar, make("div", { class: "heat-body" }, area, side));
    this.pinned.element.hidden = true;
  }

  /** What is on show, the selected cell, and why a part of the map is missing. */
  show(shown: ShownMap, table: Uint8Array, pinned: Reading | null, problem: string | null): void {
    const { say } = this;
    const { tiles, top } = shown;
    write(this.heading, shown.name(say));
    this.pool.hidden = Math.max(shown.extent.queries, shown.extent.keys) <= POOLED && shown.side === 1;
    this.legend.show(
      table,
      typeof top === "number" ? top : 1,
      typeof top !== "number",
      legendWords(shown, say),
    );
    const parts = [];
    if (shown.side > 1) parts.push(say.pixel(shown.side, shown.pooling(say)));
    if (problem !== null) parts.push(say.tileFailed(problem));
    else if (tiles.missing > 0) parts.push(say.coming(tiles.missing));
    write(this.status, parts.join(" · "));
    const notes = { average: say.coarseAverage, statistics: say.coarseStatistics };
    write(this.note, tiles.coarse === null ? "" : notes[tiles.coarse]);
    this.note.hidden = tiles.coarse === null;
    this.pinned.element.hidden = pinned === null;
    this.hint.hidden = pinned !== null;
    if (pinned !== null) this.pinned.show(pinned);
  }
}

export function legendWords({ mask, top, signed }: ShownMap, say: Words): LegendWords {
  const rows = typeof top !== "number";
  const keys = [];
  if (mask.causal !== null || mask.rows !== null) keys.push({ text: say.masked, falling: false });
  if (mask.left !== null) keys.push({ text: say.leftOut, falling: true });
  const most = rows ? say.rowShare : digits(top, 3);
  return {
    note: [signed && say.signs, rows && say.rowShare, say.root].filter(Boolean).join(" · "),
    said: say.legend(most, signed),
    signed,
    keys,
  };
}
