/**
 * What is plotted together: the curves of all runs by what they measure.
 *
 * In:   runs as far as they were written.
 * Out:  charts in a steady order. Splits share a chart (loss and dev_loss), and so do parts of a whole (norm.encoder.0).
 */

import type { RunDescription } from "../../api/types";

export interface Series {
  readonly run: number; // its place among the runs
  readonly split: string; // train, dev, test
  readonly part: string; // behind the first point; "" for the whole
  readonly steps: readonly number[];
  readonly values: readonly (number | null)[];
}

export interface ChartData {
  readonly name: string;
  readonly series: readonly Series[];
}

const FIRST = ["loss"];
const LAST = ["rate", "norm", "throughput", "memory"];
const WINDOW = 10; // points that a speed is taken over

export function chartsOf(runs: readonly RunDescription[]): ChartData[] {
  const charts = new Map<string, Series[]>();
  const add = (name: string, series: Series): void => {
    charts.set(name, [...(charts.get(name) ?? []), series]);
  };
  runs.forEach(({ curves }, run) => {
    for (const [name, { steps, values }] of Object.entries(curves)) {
      if (name === "tokens" || name === "time") continue;
      const [, whole = name, part = ""] = /^(\w+)\.(.+)$/.exec(name) ?? [];
      const [, split = "train", base = whole] = /^(dev|test)_(.+)$/.exec(whole) ?? [];
      add(base, { run, split, part, steps, values });
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

/** Tokens per second, from what was read so far and when. */
export function throughput({
  tokens,
  time,
}: RunDescription["curves"]): Pick<Series, "steps" | "values"> | null {
  if (!tokens || !time || tokens.steps.length < 2) return null;
  const when = new Map(time.steps.map((step, at) => [step, time.values[at]]));
  const values = tokens.steps.map((step, at) => {
    const before = Math.max(0, at - WINDOW);
    const seconds = (when.get(step) ?? Number.NaN) - (when.get(tokens.steps[before]!) ?? Number.NaN);
    const read = (tokens.values[at] ?? Number.NaN) - (tokens.values[before] ?? Number.NaN);
    return seconds > 0 && read >= 0 ? read / seconds : null; // a run that was resumed goes back
  });
  return { steps: tokens.steps, values };
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
