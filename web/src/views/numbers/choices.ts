/**
 * What a person chose in the numbers view, as it stands in the URL.
 *
 * In:   the stage's selection.
 * Out:  level, threshold, metrics, sorting; and which of them a recording of this length allows.
 */

import type { MetricDescription } from "../../api/types";
import { chooseMap } from "../../core/maps";
import type { Stage } from "../../core/view";
import type { Sorting } from "../../marks/table";
import { ABSOLUTE, type Level, RELATIVE, type Threshold, tabular } from "./measures";

export const LEVELS: readonly Level[] = ["head", "layer", "model"];
export const ALONG = ["entropy", "peak", "above", "distance"] as const;
export type Along = (typeof ALONG)[number];

const MOST_WEIGHTS = 4e9; // that are read for one number; about ten seconds

export class Choices {
  readonly offered: readonly MetricDescription[]; // what a table can have
  readonly long: boolean; // too long to read every weight: what was counted when recording must do

  constructor(private readonly stage: Stage) {
    this.offered = tabular(stage.metrics);
    const weights = stage.source.description.maps.reduce(
      (sum, { heads, queries, keys }) => sum + heads * queries * keys,
      0,
    );
    this.long = weights > MOST_WEIGHTS;
  }

  get level(): Level {
    return LEVELS.find((level) => level === this.option("level")) ?? "head";
  }

  get threshold(): Threshold {
    if (this.long) return ABSOLUTE;
    const standard = this.option("relative") === "1" ? RELATIVE : ABSOLUTE;
    const tau = Number(this.option("tau") ?? standard.tau);
    return tau > 0 && Number.isFinite(tau) ? { ...standard, tau } : standard;
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
    const standard = this.threshold.relative ? RELATIVE : ABSOLUTE;
    this.set("tau", tau === standard.tau ? null : String(tau));
  }

  /** A weight, or a multiple of 1/n: the other kind begins at its own standard. */
  setRelative(relative: boolean): void {
    const {
      "numbers.tau": _tau,
      "numbers.relative": _relative,
      ...others
    } = this.stage.selection.get().options;
    this.stage.selection.set({ options: relative ? { ...others, "numbers.relative": "1" } : others });
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
