/**
 * Training runs in an exported file or a notebook: as they were when it was written. Nobody writes to them any more.
 *
 * In:   the id of a run.
 * Out:  what is known of it; its numbers, each fetched whole and cut to the steps that are shown. Following brings nothing.
 */

import type { RunDescription, RunEntry, RunSeries, SeriesByName } from "../api/types";
import type { Range, RunList, RunSource } from "../core/source";
import type { Connection } from "./http";

const POINTS = { series: 2000, heads: 1000 } as const; // what a file has of each; see render/html/export.py

export function createStillRuns(connection: Connection): RunList {
  const kept = new Map<string, Promise<SeriesByName>>();
  return {
    list: () => connection.json<readonly RunEntry[]>("runs"),
    async open(id) {
      const path = `runs/${encodeURIComponent(id)}`;
      const ask = async (
        address: string,
        wanted: (name: string) => boolean,
        span: Range | null,
      ): Promise<SeriesByName["series"]> => {
        const answer = kept.get(address) ?? connection.json<SeriesByName>(address);
        kept.set(address, answer);
        const found = Object.entries((await answer).series).filter(([name]) => wanted(name));
        return Object.fromEntries(found.map(([name, each]) => [name, cut(each, span)]));
      };
      const source: RunSource = {
        run: await connection.json<RunDescription>(path),
        within: () => source,
        series: (names, span) =>
          ask(
            `${path}/series?points=${POINTS.series}`,
            (name) => names.length === 0 || names.includes(name), // none is named: all
            span,
          ),
        heads: (statistic, span) =>
          ask(
            `${path}/heads?statistic=${encodeURIComponent(statistic)}&points=${POINTS.heads}`,
            () => true,
            span,
          ),
        follow: () => () => {},
      };
      return source;
    },
  };
}

/** The points that lie in a range of steps, both ends included. */
function cut(series: RunSeries, span: Range | null): RunSeries {
  if (span === null) return series;
  const ends = series.last ?? series.first;
  const inside = series.first.map((first, at) => first <= span[1] && ends[at]! >= span[0]);
  const keep = <T>(rows: readonly T[]): readonly T[] => rows.filter((_, at) => inside[at]);
  return {
    ...series,
    first: keep(series.first),
    mean: keep(series.mean),
    last: series.last && keep(series.last),
    low: series.low && keep(series.low),
    high: series.high && keep(series.high),
    count: series.count && keep(series.count),
  };
}
