/**
 * Options of the numbers view.
 *
 * In:   the stage and its options.
 * Out:  level, threshold, metrics, sorting; and which of them a recording of this length allows.
 */

import type { MetricDescription } from "../../api/types";
import { chooseMap } from "../../core/maps";
import { type Option, type Options, oneOf, type Schema, text } from "../../core/options";
import {
  isTooLong,
  readThreshold,
  type Threshold,
  type ThresholdOptions,
  thresholdOptions,
  writeRelative,
  writeTau,
} from "../../core/threshold";
import type { Stage } from "../../core/view";
import type { Level } from "../../data/measures";
import type { Sorting } from "../../marks/table";
import { tabular } from "./measures";

export const LEVELS = ["head", "layer", "model"] as const;
export const ALONG = ["entropy", "peak", "above", "distance"] as const;
export type Along = (typeof ALONG)[number];

export interface NumbersOptions extends ThresholdOptions {
  level: Level;
  metrics: readonly string[]; // beyond the panel's
  grid: string; // the metric of the grid of heads
  along: Along; // the statistic of the lines along the text
  sort: Sorting | null;
}

const names: Option<readonly string[]> = {
  initial: [],
  parse: (stated) => stated.split(",").filter(Boolean),
  write: (value) => value.join(","),
};

/** "-entropy": by entropy, the largest first. */
const sort: Option<Sorting | null> = {
  initial: null,
  parse: (stated) => ({ name: stated.replace(/^-/, ""), down: stated.startsWith("-") }),
  write: (value) => (value === null ? "" : `${value.down ? "-" : ""}${value.name}`),
};

export const options: Schema<NumbersOptions> = {
  ...thresholdOptions,
  level: oneOf(LEVELS, "head"),
  metrics: names,
  grid: text("entropy"),
  along: oneOf(ALONG, "entropy"),
  sort,
};

export class Choices {
  readonly offered: readonly MetricDescription[]; // what a table can have
  readonly long: boolean; // too long to read every weight: what was counted when recording must do

  constructor(
    private readonly stage: Stage,
    private readonly options: Options<NumbersOptions>,
  ) {
    this.offered = tabular(stage.metrics);
    this.long = isTooLong(stage.source.description.maps);
  }

  /** Whether statistics of single rows are there: those of a difference are not. */
  get hasAlong(): boolean {
    return !this.stage.source.description.difference;
  }

  get level(): Level {
    return this.options.now.level;
  }

  get threshold(): Threshold {
    const { selection, source } = this.stage;
    return readThreshold(selection.get().options, source.description.maps);
  }

  get extras(): string[] {
    const { metrics } = this.options.now;
    return this.offered
      .filter((metric) => !metric.panel && metrics.includes(metric.name) && this.allows(metric))
      .map(({ name }) => name);
  }

  /** The panel's metrics, and those added to them. */
  get metrics(): readonly MetricDescription[] {
    const extras = this.extras;
    return this.offered.filter(({ name, panel }) => panel || extras.includes(name));
  }

  get grid(): MetricDescription {
    const wish = this.options.now.grid;
    return this.offered.find((metric) => metric.name === wish && this.allows(metric)) ?? this.offered[0]!;
  }

  /** The generation step in focus; null where maps show everything at once. */
  get step(): number | null {
    return chooseMap(this.stage.source.description, this.stage.selection.get())?.place.step ?? null;
  }

  allows({ needs }: MetricDescription): boolean {
    return !this.long || needs === "statistics";
  }

  setTau(tau: number): void {
    const { selection } = this.stage;
    selection.set({ options: writeTau(selection.get().options, tau) });
  }

  /** A weight, or a multiple of 1/n: the other kind begins at its own standard. */
  setRelative(relative: boolean): void {
    const { selection } = this.stage;
    selection.set({ options: writeRelative(selection.get().options, relative) });
  }

  setMetric(name: string, on: boolean): void {
    const others = this.extras.filter((each) => each !== name);
    this.options.set({ metrics: on ? [...others, name] : others });
  }
}
