/**
 * A training run made up for tests of views: curves from a formula, two maps with heads, one alarm.
 *
 * In:   what differs from it.
 * Out:  a RunSource whose followers a test can call, and a stage to mount on.
 */

import type { RunDescription, RunMap, RunSeries, SampledStep } from "../api/types";
import { type Place, writePlace } from "../core/place";
import type { LinkedSelection } from "../core/selection";
import type { Range, RunSource, SeriesOf } from "../core/source";
import type { Stage } from "../core/view";
import { invent, said, setStage } from "./recording";

const STEPS = Array.from({ length: 50 }, (_, at) => at + 1);
const LOOKS = [10, 20, 30, 40, 50];

/** All numbers of a run: by curve, and by map and statistic. */
export interface RunNumbers {
  readonly curves: SeriesOf;
  readonly heads: Readonly<Record<string, SeriesOf>>; // by statistic
}

const place = (layer: number) => {
  const found: Place = { stack: "decoder", kind: "self", layer, step: null };
  return { ...found, address: writePlace(found) };
};

/** Rows of a log as they are. */
export function exactSeries(
  first: readonly number[],
  value: (step: number, at: number) => number | null | readonly (number | null)[],
): RunSeries {
  const mean = first.map((step, at) => [value(step, at)].flat() as (number | null)[]);
  return { exact: true, first, last: null, mean, low: null, high: null, count: null };
}

export function inventNumbers(): RunNumbers {
  const each = (value: (layer: number, look: number, head: number) => number | null): SeriesOf =>
    Object.fromEntries(
      [0, 1].map((layer) => [
        place(layer).address,
        exactSeries(LOOKS, (_, look) => [0, 1].map((head) => value(layer, look, head))),
      ]),
    );
  return {
    curves: {
      loss: exactSeries(STEPS, (step) => 4 / step),
      dev_loss: exactSeries([25, 50], (step) => 50 / step),
      rate: exactSeries(STEPS, () => 0.001),
      tokens: exactSeries(STEPS, (step) => 100 * step),
      time: exactSeries(STEPS, (step) => 1000 + step / 2),
    },
    heads: {
      entropy_share: each((_, look, head) => (head === 0 ? 1 - look / 10 : 0.5)),
      distance: each((layer, look, head) => (layer === 1 ? null : look + head)),
    },
  };
}

export function inventRun(change: Partial<RunDescription> = {}): RunDescription {
  const statistics = ["entropy_share", "distance"];
  const maps = [0, 1].map((layer): RunMap => ({ place: place(layer), heads: 2, statistics }));
  return {
    id: "first",
    shipped: false,
    state: "finished",
    started: null,
    score_name: null,
    score: null,
    loss: [],
    indexing: null,
    owner: null,
    visibility: "private",
    last_step: 50,
    updated: 0,
    alarms: 1,
    names: ["loss", "dev_loss", "rate", "tokens", "time"],
    maps,
    alarm_list: [
      {
        cause: "uniform_heads",
        first_step: 30,
        last_step: 40,
        passed_at: 50,
        message: said("Head 1 looks everywhere evenly."),
        heads: [{ place: place(1), heads: [1] }],
        layers: [],
        value: 1,
      },
    ],
    events: [
      { step: 0, kind: "started", message: said("It began."), topic: "", value: null, time: null },
      { step: 50, kind: "best", message: said("The best loss."), topic: "loss", value: 1, time: null },
    ],
    recipe: "[train]\nrate = 1e-3\nsteps = 50\n",
    environment: { torch: "2.13.0" },
    data: {},
    damaged: 0,
    revision: 1,
    probes: [],
    checkpoint: false,
    ...change,
  };
}

/** What a server answers: exact where few rows are in the range, else their lowest, highest and mean values. */
function answer(series: SeriesOf, names: readonly string[], range: Range | null, points: number): SeriesOf {
  const wanted = Object.entries(series).filter(([name]) => names.length === 0 || names.includes(name));
  return Object.fromEntries(
    wanted.map(([name, { first, mean }]) => {
      const inside = first
        .map((_, at) => at)
        .filter((at) => !range || (first[at]! >= range[0] && first[at]! <= range[1]));
      if (inside.length <= points)
        return [
          name,
          {
            ...exactSeries([], () => null),
            first: inside.map((at) => first[at]!),
            mean: inside.map((at) => mean[at]!),
          },
        ];
      const size = Math.ceil(inside.length / points);
      const parts = Array.from({ length: Math.ceil(inside.length / size) }, (_, at) =>
        inside.slice(at * size, (at + 1) * size),
      );
      const fold = (fold: (values: number[]) => number) =>
        parts.map((part) => mean[0]!.map((_, column) => fold(part.map((at) => mean[at]![column] ?? 0))));
      const coarse: RunSeries = {
        exact: false,
        first: parts.map((part) => first[part[0]!]!),
        last: parts.map((part) => first[part.at(-1)!]!),
        mean: fold((values) => values.reduce((sum, value) => sum + value, 0) / values.length),
        low: fold((values) => Math.min(...values)),
        high: fold((values) => Math.max(...values)),
        count: fold((values) => values.length),
      };
      return [name, coarse];
    }),
  );
}

/** A stage with runs; `news` changes the first one and tells its followers; `asked` are the ranges that were asked for. */
export function setRunStage(
  descriptions: readonly RunDescription[],
  selection: Partial<LinkedSelection> = {},
  numbers: () => RunNumbers = inventNumbers,
  samples: readonly SampledStep[] = [],
) {
  const followers = new Set<() => void>();
  const asked: (Range | null)[] = [];
  const runs = descriptions.map((run): RunSource & { run: RunDescription } => {
    const source = {
      run,
      within: () => source,
      series: async (names: readonly string[], range: Range | null, points: number) => {
        asked.push(range);
        return answer(numbers().curves, names, range, points);
      },
      heads: async (statistic: string, range: Range | null, points: number) => {
        asked.push(range);
        return answer(numbers().heads[statistic] ?? {}, [], range, points);
      },
      samples: async () => samples,
      follow: (changed: (run: RunDescription) => void) => {
        const tell = (): void => changed(source.run);
        followers.add(tell);
        return () => followers.delete(tell);
      },
    };
    return source;
  });
  const set = setStage(invent().source, {
    recording: "",
    run: descriptions.map(({ id }) => id).join(),
    ...selection,
  });
  const stage: Stage<"runs"> = { ...set.stage, subject: { kind: "runs", runs }, source: runs };
  const news = (change: Partial<RunDescription>): void => {
    runs[0]!.run = { ...runs[0]!.run, ...change };
    for (const tell of followers) tell();
  };
  return { ...set, stage, news, asked };
}
