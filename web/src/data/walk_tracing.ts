/**
 * A recording with every step: the open one, or the same run once more.
 *
 * In:   a stage.
 * Out:  a source that holds a trace, or null and why there is none. A run is made once for each recording.
 */

import type { WalkPlan, Wanted } from "../api/types";
import { type RecordingSource, Refusal } from "../core/source";
import type { Rerunner, Stage } from "../core/view";
import { words } from "../i18n/hosts";

interface Made {
  readonly id: Promise<string>; // of the recording with every step
  heard: (share: number | null) => void; // who shows the walk now
}

const made = new Map<string, Made>(); // by recording
const ANY: readonly Wanted[] = ["weights", "output", "hidden", "queries", "keys", "values", "scores"]; // what every model can give
const OURS: readonly Wanted[] = [...ANY, "trace", "parameters"];

/** Whether running the model again would show more. */
export function canTrace(plan: WalkPlan, stage: Stage): boolean {
  const request = plan.more ? (stage.rerunner?.again({}) ?? null) : null;
  return request !== null && (request.edits ?? []).length === 0;
}

/** The same run, with every step kept; `heard` is told how far it is (0 … 1, or null). */
export async function trace(
  stage: Stage,
  { ours }: WalkPlan,
  heard: (share: number | null) => void,
): Promise<RecordingSource> {
  const { rerunner } = stage;
  if (rerunner === null) throw cannotRun();
  const { id } = stage.source.description;
  const known = made.get(id) ?? begin(rerunner, ours, heard);
  known.heard = heard;
  made.set(id, known);
  known.id.catch((error: unknown) => {
    // A model that cannot be followed is not asked twice; one that was cancelled or out of reach is.
    if (!(error instanceof Refusal && error.status > 0) && made.get(id) === known) made.delete(id);
  });
  return known.id.then((found) => rerunner.open(found));
}

function begin(rerunner: Rerunner, ours: boolean, heard: Made["heard"]): Made {
  const request = rerunner.again({});
  if (request === null) throw cannotRun();
  const telling = { heard };
  const id = rerunner.run(
    { ...request, want: ours ? OURS : ANY, listed: false },
    (event) => {
      if ("job" in event) telling.heard(event.job.share);
    },
    new AbortController().signal, // whoever comes back to the walk finds it done
  );
  return Object.assign(telling, { id });
}

function cannotRun(): Refusal {
  return new Refusal((language) => words(language).cannotRun, "no_workbench", 0);
}
