/**
 * Which runs a list shows, in which order.
 *
 * In:   all runs; what is searched for, a state, a column to sort by.
 * Out:  those that fit, sorted; runs without a value come last either way.
 */

import type { RunEntry } from "../../api/types";

export const COLUMNS = ["name", "state", "loss", "score", "steps", "started", "time", "alarms"] as const;
export type Column = (typeof COLUMNS)[number];

export interface Asked {
  readonly search: string;
  readonly state: string; // "": any
  readonly sort: Column;
  readonly up: boolean; // the smallest first
}

const numbers = new Intl.Collator(undefined, { numeric: true });

export function chooseRuns(runs: readonly RunEntry[], { search, state, sort, up }: Asked): RunEntry[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return runs
    .filter((run) => state === "" || run.state === state)
    .filter(({ id }) => words.every((word) => id.toLowerCase().includes(word)))
    .map((run) => ({ run, value: sortValue(run, sort) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
      const order =
        typeof a.value === "string" ? numbers.compare(a.value, String(b.value)) : a.value - Number(b.value);
      return up ? order : -order;
    })
    .map(({ run }) => run);
}

export function lastLoss({ loss }: RunEntry): number | null {
  return loss.at(-1) ?? null;
}

/** How long it took, or takes so far, in seconds. */
export function seconds({ started, updated }: RunEntry): number | null {
  return started === null ? null : Math.max(0, updated - started);
}

function sortValue(run: RunEntry, column: Column): string | number | null {
  const values: Readonly<Record<Column, string | number | null>> = {
    name: run.id,
    state: run.state,
    loss: lastLoss(run),
    score: run.score ?? null,
    steps: run.last_step,
    started: run.started ?? run.updated,
    time: seconds(run),
    alarms: run.alarms,
  };
  return values[column];
}
