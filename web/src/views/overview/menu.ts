/**
 * The overview's controls: which number, which order, which heads, which colours; all kept in the URL.
 *
 * In:   the stage's metrics and selection.
 * Out:  elements, and the options they stand for.
 */

import type { Language, MetricDescription } from "../../api/types";
import { digits, significant } from "../../core/formats";
import type { Selection, SelectionStore } from "../../core/selection";
import { choice, list, slider } from "../../marks/controls";
import { make, type Text } from "../../marks/make";
import type { Order } from "./grid";
import type { words } from "./words";

const STEPS = 100; // of the filter's slider

export type Way = "at_least" | "at_most";

export interface Options {
  readonly metric: string; // "none" for none
  readonly order: Order;
  readonly how: "mean" | "max";
  readonly own: boolean; // each head up to its own largest weight
  readonly way: Way;
  readonly bound: number | null;
}

/** Entropy, or whatever there is. */
export function usualMetric(metrics: readonly MetricDescription[]): string {
  return metrics.some((metric) => metric.name === "entropy") ? "entropy" : (metrics[0]?.name ?? "none");
}

export function readOptions(selection: Selection, metrics: readonly MetricDescription[]): Options {
  const get = (name: string): string | undefined => selection.options[`overview.${name}`];
  const [, kept, bound] = /^(at_least|at_most)_(-?[\d.e+-]+)$/.exec(get("keep") ?? "") ?? [];
  const order = get("order");
  const number = Number(bound);
  return {
    metric: get("metric") ?? usualMetric(metrics),
    order: order === "high" || order === "low" ? order : "layer",
    how: get("pool") === "max" ? "max" : "mean",
    own: get("colours") !== "shared",
    way: (kept ?? get("way")) === "at_most" ? "at_most" : "at_least",
    bound: bound === undefined || !Number.isFinite(number) ? null : number,
  };
}

/** Whether the filter lets a number through; what is undefined passes only without one. */
export function passes(value: number | null, { bound, way }: Options): boolean {
  if (bound === null) return true;
  if (value === null) return false;
  const slack = 1e-6 * Math.max(1e-6, Math.abs(bound)); // the bound is written with seven digits
  return way === "at_least" ? value >= bound - slack : value <= bound + slack;
}

type Words = ReturnType<typeof words>;

export class Menu {
  readonly bar: HTMLElement; // above the pictures
  readonly looks: HTMLElement; // beside them
  private readonly filter = make("div", { class: "over-filter" });
  private readonly counted = make("output", { class: "over-count" });
  private readonly show: ((options: Options) => void)[] = [];

  constructor(
    private readonly say: Words,
    private readonly language: () => Language,
    private readonly metrics: readonly MetricDescription[],
    private readonly selection: SelectionStore,
    pooled: boolean, // a pixel shows several weights
  ) {
    this.bar = make("div", { class: "over-bar" }, this.metricList(), this.orderChoice(), this.filter);
    this.looks = make("div", { class: "over-looks" }, this.colourChoice(), pooled && this.poolChoice());
  }

  set(options: Options): void {
    for (const show of this.show) show(options);
  }

  /** The filter of a measured metric; `limits` null while there is none. */
  offer(metric: MetricDescription | null, limits: readonly [number, number] | null): void {
    if (metric === null || limits === null) {
      this.filter.replaceChildren();
      return;
    }
    const { say, selection } = this;
    const [least, most] = limits;
    const { way, bound } = this.options();
    const slide = slider(
      {
        label: () => say.threshold(metric.label[this.language()]),
        minimum: least,
        maximum: most > least ? most : least + 1,
        step: most > least ? (most - least) / STEPS : 1,
        value: bound ?? (way === "at_least" ? least : most),
        text: (value) => digits(value, 3),
      },
      (value) => {
        const all = way === "at_least" ? value <= least : value >= most;
        selection.option("overview.keep", all ? null : `${way}_${significant(value, 7)}`);
      },
    );
    const ways = choice<Way>(
      () => say.keep,
      [
        { value: "at_least", text: () => say.atLeast },
        { value: "at_most", text: () => say.atMost },
      ],
      way,
      (now) => {
        selection.option("overview.keep", null);
        selection.option("overview.way", now === "at_least" ? null : now);
      },
    );
    this.filter.replaceChildren(ways.element, slide.element, this.counted);
  }

  /** Some words where the filter stands. */
  wait(text: Text): void {
    this.filter.replaceChildren(make("span", { class: "over-count" }, text));
  }

  count(text: string): void {
    if (this.counted.textContent !== text) this.counted.textContent = text;
  }

  private options(): Options {
    return readOptions(this.selection.get(), this.metrics);
  }

  private put(name: string, value: string, usual: string): void {
    this.selection.option(`overview.${name}`, value === usual ? null : value);
  }

  private metricList(): HTMLElement {
    const { say } = this;
    const families = new Map<string, MetricDescription[]>();
    for (const metric of this.metrics) {
      families.set(metric.family, [...(families.get(metric.family) ?? []), metric]);
    }
    const groups = [...families].map(([family, members]) => ({
      label: () => say.families(family),
      options: members.map((each) => ({ value: each.name, text: () => each.label[this.language()] })),
    }));
    const none = { label: null, options: [{ value: "none", text: () => say.noMeasure }] };
    const usual = usualMetric(this.metrics);
    const control = list<string>(
      () => say.measure,
      [none, ...groups],
      this.options().metric,
      (value) => this.put("metric", value, usual),
    );
    this.show.push(({ metric }) => control.set(metric));
    return control.element;
  }

  private orderChoice(): HTMLElement {
    const { say } = this;
    const orders = [
      { value: "layer", text: () => say.byLayer },
      { value: "high", text: () => say.highFirst },
      { value: "low", text: () => say.lowFirst },
    ] as const;
    return this.choice(
      "order",
      () => say.order,
      orders,
      ({ order }) => order,
    );
  }

  private colourChoice(): HTMLElement {
    const { say } = this;
    const colours = (["own", "shared"] as const).map((value) => ({ value, text: () => say[value] }));
    return this.choice(
      "colours",
      () => say.colours,
      colours,
      ({ own }) => (own ? "own" : "shared"),
    );
  }

  private poolChoice(): HTMLElement {
    const { say } = this;
    const ways = (["mean", "max"] as const).map((value) => ({ value, text: () => say[value] }));
    return this.choice(
      "pool",
      () => say.pool,
      ways,
      ({ how }) => how,
    );
  }

  /** A choice that follows its option; the first is the usual one. */
  private choice<T extends string>(
    name: string,
    label: Text,
    choices: readonly { readonly value: T; readonly text: Text }[],
    read: (options: Options) => T,
  ): HTMLElement {
    const control = choice<T>(label, choices, read(this.options()), (value) =>
      this.put(name, value, choices[0]!.value),
    );
    this.show.push((options) => control.set(read(options)));
    return control.element;
  }
}
