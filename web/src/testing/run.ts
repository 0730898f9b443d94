/**
 * A training run made up for tests of views: curves from a formula, two maps with heads, one alarm.
 *
 * In:   what differs from it.
 * Out:  a RunSource whose followers a test can call, and a stage to mount on.
 */

import type { RunDescription, RunHeads } from "../api/types";
import { type Place, writePlace } from "../core/place";
import type { LinkedSelection } from "../core/selection";
import type { RunSource } from "../core/source";
import type { Stage } from "../core/view";
import { invent, said, setStage } from "./recording";

const STEPS = Array.from({ length: 50 }, (_, at) => at + 1);
const LOOKS = [10, 20, 30, 40, 50];

function heads(place: Place): RunHeads {
  const rows = (value: (look: number, head: number) => number | null) =>
    LOOKS.map((_, look) => [0, 1].map((head) => value(look, head)));
  return {
    place: { ...place, address: writePlace(place) },
    heads: 2,
    steps: LOOKS,
    statistics: {
      entropy_share: rows((look, head) => (head === 0 ? 1 - look / 10 : 0.5)),
      distance: rows((look, head) => (place.layer === 1 ? null : look + head)),
    },
  };
}

export function inventRun(change: Partial<RunDescription> = {}): RunDescription {
  const place = (layer: number): Place => ({ stack: "decoder", kind: "self", layer, step: null });
  const alarmed = place(1);
  return {
    id: "first",
    state: "finished",
    started: null,
    score_name: null,
    score: null,
    loss: [],
    indexing: null,
    last_step: 50,
    updated: 0,
    alarms: 1,
    curves: {
      loss: { steps: STEPS, values: STEPS.map((step) => 4 / step) },
      dev_loss: { steps: [25, 50], values: [2, 1] },
      rate: { steps: STEPS, values: STEPS.map(() => 0.001) },
      tokens: { steps: STEPS, values: STEPS.map((step) => 100 * step) },
      time: { steps: STEPS, values: STEPS.map((step) => 1000 + step / 2) },
    },
    heads: [heads(place(0)), heads(alarmed)],
    events: [
      {
        step: 30,
        kind: "alarm",
        message: said("Head 1 looks everywhere evenly."),
        topic: "uniform",
        place: { ...alarmed, address: writePlace(alarmed) },
        where: "",
        value: 1,
        time: null,
      },
    ],
    recipe: "[train]\nrate = 1e-3\nsteps = 50\n",
    environment: { torch: "2.13.0" },
    damaged: 0,
    revision: 1,
    since: null,
    thinned: false,
    ...change,
  };
}

/** A stage with runs; `news` changes the first one and tells its followers. */
export function setRunStage(
  descriptions: readonly RunDescription[],
  selection: Partial<LinkedSelection> = {},
) {
  const followers = new Set<() => void>();
  const runs = descriptions.map((run): RunSource & { run: RunDescription } => {
    const source = {
      run,
      within: () => source,
      refresh: async () => false,
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
  return { ...set, stage, news };
}
