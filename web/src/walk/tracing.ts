/**
 * A recording with every step: the open one, or the same run once more.
 *
 * In:   a stage.
 * Out:  a source that holds a trace, or null and why there is none. A run is made once for each recording.
 */

import type { RecordingSource } from "../source";
import type { WalkPlan } from "../types";
import type { Stage } from "../view";

const made = new Map<string, Promise<RecordingSource>>();
const ANY = ["weights", "output", "hidden", "queries", "keys", "values", "scores"]; // what every model can give
const OURS = [...ANY, "trace", "parameters"];

/** Whether running the model again would show more. */
export function canTrace(plan: WalkPlan, stage: Stage): boolean {
  const request = plan.more ? (stage.workbench?.again({}) ?? null) : null;
  return request !== null && (request.edits ?? []).length === 0;
}

/** The same run, with every step kept; `heard` is told how far it is (0 … 1, or null). */
export function trace(
  stage: Stage,
  { ours }: WalkPlan,
  heard: (share: number | null) => void,
): Promise<RecordingSource> {
  const { id } = stage.source.description;
  const known = made.get(id);
  if (known !== undefined) return known;
  const { workbench } = stage;
  const request = workbench?.again({}) ?? null;
  if (workbench === null || request === null) return Promise.reject(new Error("nothing to run"));
  const run = workbench
    .run(
      { ...request, want: ours ? OURS : ANY, listed: false },
      (event) => {
        if ("job" in event) heard(event.job.share);
      },
      new AbortController().signal, // whoever comes back to the walk finds it done
    )
    .then((made) => workbench.open(made));
  made.set(id, run);
  run.catch(() => {}); // a model that cannot be followed is not asked twice
  return run;
}
