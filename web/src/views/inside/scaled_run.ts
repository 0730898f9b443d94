/**
 * The model once more, with scores that are multiplied: a run that outlives the part which asked for it.
 *
 * In:   the stage, the multiplier, where it holds.
 * Out:  the run and what was asked of it; or why the model cannot run here.
 */

import type { EditRequest, Wanted } from "../../api/types";
import { focusOf } from "../../core/focus";
import type { KeptWork, Stage } from "../../core/view";
import { Run } from "../../data/run";
import type { Words } from "./panel";

const WANTED: readonly Wanted[] = ["weights", "scores", "output", "hidden"]; // what is compared

export interface Asked extends KeptWork {
  readonly run: Run;
  readonly map: string; // address of its place
  readonly factor: number;
  readonly everywhere: boolean;
}

export function runScaled(stage: Stage, factor: number, everywhere: boolean): Asked | null {
  const { rerunner } = stage;
  const { map } = focusOf(stage);
  const place = everywhere
    ? {}
    : { stack: map.place.stack, attention: map.place.kind, layer: map.place.layer };
  const edit: EditRequest = { kind: "scale", factor, ...place };
  const request = rerunner?.again({ edits: [edit] });
  if (!rerunner || !request) return null;
  const want = new Set([...(request.want ?? []), ...WANTED]);
  const run = new Run((...heard) => rerunner.run({ ...request, want: [...want] }, ...heard));
  return { run, map: map.place.address, factor, everywhere, stop: () => run.stop() };
}

/** Why the model cannot run again here. */
export function whyNot({ rerunner }: Stage, say: Words): string | null {
  if (rerunner === null) return say.noRerunner;
  return rerunner.again({}) === null ? say.noRequest : null;
}
