/**
 * The overview's controls: which number, which order, which heads, which colours; all kept in the URL.
 *
 * In:   the stage's metrics and selection.
 * Out:  elements, and the options they stand for.
 */

import type { Language, MetricDescription } from "../../api/types";
import { digits, significant } from "../../core/formats";
import { groupBy } from "../../core/maths/group";
import { formatText } from "../../core/messages";
import { type Option, type Options, oneOf, optional, type Schema, text } from "../../core/options";
import type { Names } from "../../core/recording_view";
import { choice, slider } from "../../marks/controls";
import { make, type Text, write } from "../../marks/make";
import { OptionControls } from "../../marks/option_controls";
import type { Order } from "./grid";
import type { Words } from "./words";

const STEPS = 100; // of the filter's slider
const WAYS = ["at_least", "at_most"] as const;
type Way = (typeof WAYS)[number];
const COLOURS = ["own", "shared"] as const; // each head up to its own largest value, or all on one scale
type Colours = (typeof COLOURS)[number];

interface Filter {
  readonly way: Way;
  readonly bound: number | null;
}

export interface OverviewOptions {
  readonly metric: string | null; // "none" for none; null: the usual one
  readonly order: Order;
  readonly pool: "mean" | "max";
  readonly colours: Colours | null; // null: the usual ones
  readonly way: Way; // while there is no bound
  readonly keep: Filter | null;
}

/** "at_least_0.5": only heads with such a number. */
const keep: Option<Filter | null> = {
  initial: null,
  parse(stated) {
    const [, way, bound] = /^(at_least|at_most)_(-?[\d.e+-]+)$/.exec(stated) ?? [];
    return Number.isFinite(Number(bound)) ? { way: way as Way, bound: Number(bound) } : undefined;
  },
  write: (filter) => (filter === null ? "" : `${filter.way}_${filter.bound}`),
};

export const options: Schema<OverviewOptions> = {
  metric: optional(text()),
  order: oneOf(["layer", "high", "low"], "layer"),
  pool: oneOf(["mean", "max"], "mean"),
  colours: optional(oneOf(COLOURS, "own")),
  way: oneOf(WAYS, "at_least"),
  keep,
};

/** Entropy, or whatever there is. */
export function usualMetric(metrics: readonly MetricDescription[]): string {
  return metrics.some((metric) => metric.name === "entropy") ? "entropy" : (metrics[0]?.name ?? "none");
}

/** Effects and differences are compared between heads; where a head looks has nothing to do with others. */
export function usualColours(signed: boolean): Colours {
  return signed ? "shared" : "own";
}

export function filterOf({ keep, way }: OverviewOptions): Filter {
  return keep ?? { way, bound: null };
}

/** Whether the filter lets a number through; what is undefined passes only without one. */
export function passes(value: number | null, { bound, way }: Filter): boolean {
  if (bound === null) return true;
  if (value === null) return false;
  const slack = 1e-6 * Math.max(1e-6, Math.abs(bound)); // the bound is written with seven digits
  return way === "at_least" ? value >= bound - slack : value <= bound + slack;
}

export class Menu {
  readonly bar: HTMLElement; // above the pictures
  readonly looks: HTMLElement; // beside them
  private readonly filter = make("div", { class: "over-filter drawn-bar" });
  private readonly counted = make("output", { class: "over-count" });
  private readonly controls: OptionControls<OverviewOptions>;

  constructor(
    private readonly say: Words,
    private readonly names: Names,
    private readonly language: () => Language,
    private readonly metrics: readonly MetricDescription[],
    private readonly options: Options<OverviewOptions>,
    pooled: boolean, // a pixel shows several weights
    signed: boolean,
  ) {
    const controls = new OptionControls(options);
    this.controls = controls;
    const order = controls.choice("order", () => say.order, {
      layer: () => say.byLayer,
      high: () => say.highFirst,
      low: () => say.lowFirst,
    });
    this.bar = make("div", { class: "over-bar drawn-bar" }, this.metricList(), order, this.filter);
    const colours = { own: () => say.own, shared: () => (signed ? say.oneScale : say.shared) };
    const pools = { mean: () => say.mean, max: () => say.max };
    this.looks = make(
      "div",
      { class: "over-looks" },
      controls.choice(
        "colours",
        () => say.colours,
        colours,
        () => usualColours(signed),
      ),
      pooled && controls.choice("pool", () => say.pool, pools),
    );
  }

  follow(): void {
    this.controls.follow();
  }

  /** The filter of a measured metric; `limits` null while there is none. */
  offer(metric: MetricDescription | null, limits: readonly [number, number] | null): void {
    if (metric === null || limits === null) {
      this.filter.replaceChildren();
      return;
    }
    const { say, options } = this;
    const [least, most] = limits;
    const { way, bound } = filterOf(options.now);
    const slide = slider(
      {
        label: () => say.threshold(formatText(metric.label, this.language())),
        minimum: least,
        maximum: most > least ? most : least + 1,
        step: most > least ? (most - least) / STEPS : 1,
        value: bound ?? (way === "at_least" ? least : most),
        text: (value) => digits(value, 3),
      },
      (value) => {
        const all = way === "at_least" ? value <= least : value >= most;
        options.set({ keep: all ? null : { way, bound: significant(value, 7) } });
      },
    );
    const ways = choice<Way>(
      () => say.keep,
      [
        { value: "at_least", text: () => say.atLeast },
        { value: "at_most", text: () => say.atMost },
      ],
      way,
      (now) => options.set({ keep: null, way: now }),
    );
    this.filter.replaceChildren(ways.element, slide.element, this.counted);
  }

  /** Some words where the filter stands. */
  wait(text: Text): void {
    this.filter.replaceChildren(make("span", { class: "over-count" }, text));
  }

  count(text: string): void {
    write(this.counted, text);
  }

  private metricList(): HTMLElement {
    const { say } = this;
    const groups = [...groupBy(this.metrics, ({ family }) => family)].map(([family, members]) => ({
      label: () => this.names.families(family),
      options: members.map((each) => ({
        value: each.name,
        text: () => formatText(each.label, this.language()),
      })),
    }));
    const none = { label: null, options: [{ value: "none", text: () => say.noMeasure }] };
    const usual = (): string => usualMetric(this.metrics);
    return this.controls.list("metric", () => say.measure, [none, ...groups], usual);
  }
}
