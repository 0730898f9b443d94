/**
 * What is plotted together: the curves of all runs by what they measure.
 *
 * In:   the numbers of runs.
 * Out:  charts in a steady order. Splits share a chart (loss and dev_loss), and so do parts of a whole (norm.encoder.0).
 */

import type { RunSeries } from "../../api/types";
import type { SeriesOf } from "../../core/source";
import type { Words } from "./words";

export interface Series {
  readonly run: number; // its place among the runs
  readonly split: string; // train, dev, test, averaged
  readonly part: string; // behind the first point; "" for the whole
  readonly steps: Float64Array; // of a point of several steps, the middle
  readonly values: Float64Array; // NaN: none
  readonly low?: Float64Array | undefined; // where points are of several steps
  readonly high?: Float64Array | undefined;
  readonly rows?: readonly number[] | undefined; // how many each point is of
}

export interface ChartData {
  readonly name: string;
  readonly series: readonly Series[];
}

const PARTS = "_by_layer"; // behind the name of a chart of parts
const FIRST = ["loss"];
const LAST = ["rate", "norm", `norm${PARTS}`, "throughput", "memory"];
const WINDOW = 10; // points that a speed is taken over

export function chartsOf(runs: readonly SeriesOf[]): ChartData[] {
  const charts = new Map<string, Series[]>();
  const add = (name: string, series: Series): void => {
    charts.set(name, [...(charts.get(name) ?? []), series]);
  };
  runs.forEach((curves, run) => {
    for (const [name, series] of Object.entries(curves)) {
      if (name === "tokens" || name === "time" || series.first.length === 0) continue;
      const [, whole = name, part = ""] = /^(\w+)\.(.+)$/.exec(name) ?? [];
      const [, split = "train", base = whole] = /^(dev|test|averaged)_(.+)$/.exec(whole) ?? [];
      add(part === "" ? base : base + PARTS, { run, split, part, ...numbersOf(series) });
    }
    const speed = throughput(curves);
    if (speed) add("throughput", { run, split: "train", part: "", ...speed });
  });
  const rank = (name: string): number =>
    FIRST.includes(name) ? -1 : LAST.includes(name) ? 1 + LAST.indexOf(name) : 0;
  return [...charts]
    .map(([name, series]) => ({ name, series }))
    .sort((a, b) => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1));
}

/** What a chart is called; a score of a pair of languages (bleu_en-fr) by both. */
export function titleOf(name: string, say: Words): string {
  const [, score, pair] = /^(bleu|chrf)_(.+)$/.exec(name) ?? [];
  return score === undefined ? say.chart(name) : `${say.chart(score)} ${pair}`;
}

type Plotted = Pick<Series, "steps" | "values" | "low" | "high" | "rows">;

function numbersOf({ first, last, mean, low, high, count }: RunSeries): Plotted {
  const column = (rows: RunSeries["mean"]): Float64Array =>
    Float64Array.from(rows, ([value]) => value ?? Number.NaN);
  const steps = Float64Array.from(first, (step, at) => (last ? (step + last[at]!) / 2 : step));
  if (!low || !high || !count) return { steps, values: column(mean) };
  return {
    steps,
    values: column(mean),
    low: column(low),
    high: column(high),
    rows: count.map(([rows]) => rows ?? 0),
  };
}

/** Tokens per second, from what was read so far and when. */
export function throughput({ tokens, time }: SeriesOf): Pick<Series, "steps" | "values"> | null {
  if (!tokens || !time || tokens.first.length < 2) return null;
  const ends = ({ first, last, mean, high }: RunSeries) =>
    new Map((last ?? first).map((step, at) => [step, (high ?? mean)[at]?.[0] ?? Number.NaN] as const)); // both only grow
  const [read, when] = [ends(tokens), ends(time)];
  const steps = [...read.keys()];
  const values = steps.map((step, at) => {
    const before = steps[Math.max(0, at - WINDOW)]!;
    const seconds = (when.get(step) ?? Number.NaN) - (when.get(before) ?? Number.NaN);
    const more = read.get(step)! - read.get(before)!;
    return seconds > 0 && more >= 0 ? more / seconds : Number.NaN; // a run that was resumed goes back
  });
  return { steps: Float64Array.from(steps), values: Float64Array.from(values) };
}

/**
 * An exponential moving average that starts unbiased. A point of many rows counts as often as it has rows, so that the curve
 * is the same however coarse the numbers are.
 */
export function smoothed({ values, rows }: Series, kept: number): Float64Array {
  let [average, weight] = [0, 0];
  return values.map((value, at) => {
    if (Number.isNaN(value)) return value; // a gap stays one
    const share = kept ** (rows?.[at] ?? 1);
    average = share * average + (1 - share) * value;
    weight = share * weight + (1 - share);
    return average / weight;
  });
}

/** Lines of recipes that are not in all of them: by run, what a setting is. */
export function differences(recipes: readonly string[]): { name: string; values: (string | null)[] }[] {
  const settings = recipes.map(readSettings);
  const names = [...new Set(settings.flatMap((each) => [...each.keys()]))];
  return names
    .map((name) => ({ name, values: settings.map((each) => each.get(name) ?? null) }))
    .filter(({ values }) => values.some((value) => value !== values[0]));
}

/** Settings of a TOML text by table and name, as they are written there. */
function readSettings(recipe: string): Map<string, string> {
  const found = new Map<string, string>();
  let table = "";
  for (const line of recipe.split("\n")) {
    const [, header] = /^\s*\[([^\]]+)\]\s*$/.exec(line) ?? [];
    if (header !== undefined) table = `${header}.`;
    const [, name, value] = /^\s*([\w.-]+)\s*=\s*(.+?)\s*$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) found.set(table + name, value);
  }
  return found;
}
