/**
 * What is drawn of a search, as numbers: places on axes, chosen ranges, the best so far, orders of rows.
 *
 * In:   a SearchDescription.
 * Out:  plain numbers and lists; nothing of the page.
 */

import type { SearchDescription, SearchParameter, SearchTrial } from "../../api/types";

export type Value = SearchParameter["own"];
export type Range = readonly [low: number, high: number]; // shares of an axis, from its lower end

/** An axis of the parallel coordinates: a setting, or the first objective at the end. */
export interface Axis {
  readonly name: string;
  readonly ticks: readonly { readonly at: number; readonly value: Value }[];
  /** Where a trial passes, 0 at the lower end to 1; null where it has no value. */
  place(trial: SearchTrial): number | null;
}

export function meanOf(trial: SearchTrial, objective: string): number | null {
  return trial.values[objective]?.mean ?? null;
}

export function axesOf(search: SearchDescription): Axis[] {
  return [...search.parameters.map(parameterAxis), objectiveAxis(search)];
}

function parameterAxis(parameter: SearchParameter): Axis {
  const { name, kind, low, high } = parameter;
  if (kind === "choice" || low === null || low === undefined || high === null || high === undefined) {
    const last = Math.max(1, parameter.values.length - 1);
    const places = new Map(parameter.values.map((value, at) => [value, at / last]));
    return {
      name,
      ticks: parameter.values.map((value, at) => ({ at: at / last, value })),
      place: (trial) => places.get(trial.parameters[name] ?? null) ?? null,
    };
  }
  const scale = (value: number): number => (parameter.log ? Math.log(value) : value);
  const [from, to] = [scale(low), scale(high)];
  return {
    name,
    ticks: [
      { at: 0, value: low },
      { at: 1, value: high },
    ],
    place(trial) {
      const value = trial.parameters[name];
      return typeof value === "number" ? clip((scale(value) - from) / (to - from)) : null;
    },
  };
}

/** The best values are at the top. */
function objectiveAxis(search: SearchDescription): Axis {
  const { name, direction } = search.objectives[0]!;
  const values = search.trials.flatMap((trial) => meanOf(trial, name) ?? []);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const wide = high - low || 1;
  const up = (value: number): number =>
    direction === "maximize" ? (value - low) / wide : (high - value) / wide;
  return {
    name,
    ticks: values.length === 0 ? [] : [low, high].map((value) => ({ at: clip(up(value)), value })),
    place(trial) {
      const value = meanOf(trial, name);
      return value === null ? null : clip(up(value));
    },
  };
}

const clip = (share: number): number => Math.min(1, Math.max(0, share));

/** Ranges by the names of axes, as in a link: "model.heads:0.2-0.5,loss:0.9-1". */
export function readBrush(text: string): Map<string, Range> {
  const found = new Map<string, Range>();
  for (const part of text === "" ? [] : text.split(",")) {
    const [, name, low, high] = /^([^:,]+):([\d.]+)-([\d.]+)$/.exec(part) ?? [];
    if (name) found.set(name, [Number(low), Number(high)]);
  }
  return found;
}

export function writeBrush(ranges: ReadonlyMap<string, Range>): string {
  const short = (value: number): string => String(Math.round(1000 * value) / 1000);
  return [...ranges].map(([name, [low, high]]) => `${name}:${short(low)}-${short(high)}`).join(",");
}

export function isBrush(text: string): boolean {
  return /^([^:,]+:[\d.]+-[\d.]+)(,[^:,]+:[\d.]+-[\d.]+)*$/.test(text) && text.length < 2000;
}

/** Whether a trial passes through all ranges. */
export function passes(
  trial: SearchTrial,
  axes: readonly Axis[],
  ranges: ReadonlyMap<string, Range>,
): boolean {
  return axes.every((axis) => {
    const range = ranges.get(axis.name);
    if (!range) return true;
    const at = axis.place(trial);
    return at !== null && at >= range[0] - 1e-9 && at <= range[1] + 1e-9;
  });
}

/** The best value so far after each trial that is complete, in order. */
export function bestSoFar(search: SearchDescription): { readonly number: number; readonly value: number }[] {
  const { name, direction } = search.objectives[0]!;
  const found: { number: number; value: number }[] = [];
  for (const trial of search.trials) {
    const value = trial.state === "complete" ? meanOf(trial, name) : null;
    if (value === null) continue;
    const best = found.at(-1)?.value;
    const better = best === undefined || (direction === "maximize" ? value > best : value < best);
    found.push({ number: trial.number, value: better ? value : best });
  }
  return found;
}

/** What a column of the table sorts by. */
function keyOf(trial: SearchTrial, column: string): Value {
  if (column === "trial") return trial.number;
  if (column === "state") return trial.state;
  return trial.values[column]?.mean ?? trial.parameters[column] ?? null;
}

/** Trials in the order of a column; those without a value come last. */
export function sortTrials(trials: readonly SearchTrial[], column: string, up: boolean): SearchTrial[] {
  const direction = up ? 1 : -1;
  return [...trials].sort((first, second) => {
    const [a, b] = [keyOf(first, column), keyOf(second, column)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    if (typeof a === "number" && typeof b === "number") return direction * (a - b);
    return direction * String(a).localeCompare(String(b));
  });
}
