/**
 * What a person chose in the numbers view, as it stands in the URL.
 *
 * In:   the stage's selection.
 * Out:  level, threshold, metrics, sorting; and which of them a recording of this length allows.
 */

import type { MetricDescription } from "../../api/types";
import { chooseMap } from "../../core/maps";
import { isTooLong, readThreshold, type Threshold, writeRelative, writeTau } from "../../core/threshold";
import type { Stage } from "../../core/view";
import type { Sorting } from "../../marks/table";
import { type Level, tabular } from "./measures";

export const LEVELS: readonly Level[] = ["head", "layer", "model"];
export const ALONG = ["entropy", "peak", "above", "distance"] as const;
export type Along = (typeof ALONG)[number];

export class Choices {
  readonly offered: readonly MetricDescription[]; // what a table can have
  readonly long: boolean; // too long to read every weight: what was counted when recording must do

  constructor(private readonly stage: Stage) {
    this.offered = tabular(stage.metrics);
    this.long = isTooLong(stage.source.description.maps);
  }

  get level(): Level {
    return LEVELS.find((level) => level === this.option("level")) ?? "head";
  }

  get threshold(): Threshold {
    const { selection, source } = this.stage;
    return readThreshold(selection.get().options, source.description.maps);
  }

  get extras(): string[] {
    const names = (this.option("metrics") ?? "").split(",");
    return this.offered
      .filter((metric) => !metric.panel && names.includes(metric.name) && this.allows(metric))
      .map(({ name }) => name);
  }

  /** The panel's metrics, and those added to them. */
  get metrics(): readonly MetricDescription[] {
    const extras = this.extras;
    return this.offered.filter(({ name, panel }) => panel || extras.includes(name));
  }

  get grid(): MetricDescription {
    const wish = this.option("grid") ?? "entropy";
    return this.offered.find((metric) => metric.name === wish && this.allows(metric)) ?? this.offered[0]!;
  }

  get along(): Along {
    return ALONG.find((name) => name === this.option("along")) ?? "entropy";
  }

  get sorting(): Sorting | null {
    const wish = this.option("sort");
    if (wish === undefined) return null;
    return wish.startsWith("-") ? { name: wish.slice(1), down: true } : { name: wish, down: false };
  }

  /** The generation step in focus; null where maps show everything at once. */
  get step(): number | null {
    return chooseMap(this.stage.source.description, this.stage.selection.get())?.step ?? null;
  }

  allows({ needs }: MetricDescription): boolean {
    return !this.long || needs === "statistics";
  }

  set(name: string, value: string | null): void {
    this.stage.selection.option(`numbers.${name}`, value);
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
    const names = this.extras.filter((each) => each !== name);
    if (on) names.push(name);
    this.set("metrics", names.length === 0 ? null : names.join(","));
  }

  private option(name: string): string | undefined {
    return this.stage.selection.get().options[`numbers.${name}`];
  }
}
