/**
 * The walk of a recording: its plan and its tokens; and the request that runs the model once more and keeps every step.
 *
 * In:   a source; a rerunner.
 * Out:  what is walked through; a request, or null where another run would show no more.
 */

import type { JobRequest, RowSide, TokenSlice, WalkPlan, Wanted } from "../api/types";
import type { RecordingSource } from "../core/source";
import type { Rerunner } from "../core/view";

export interface Walk {
  readonly source: RecordingSource;
  readonly plan: WalkPlan;
  readonly tokens: Readonly<Record<RowSide, TokenSlice | null>>;
}

const ANY: readonly Wanted[] = ["weights", "output", "hidden", "queries", "keys", "values", "scores"]; // what every model can give
const OURS: readonly Wanted[] = [...ANY, "trace", "parameters"];

/** `later`: the source for what is asked after this. */
export async function readWalk(source: RecordingSource, later = source): Promise<Walk> {
  const read = (side: RowSide) => (source.description[side] ? source.tokens(side) : null);
  const [plan, first, target, written, part, part2, part3] = await Promise.all([
    source.walk(),
    source.tokens("source"),
    ...([read("target"), read("written"), read("part"), read("part2"), read("part3")] as const),
  ]);
  return { source: later, plan, tokens: { source: first, target, written, part, part2, part3 } };
}

export function tracingRequest({ more, ours }: WalkPlan, rerunner: Rerunner | null): JobRequest | null {
  const request = more ? (rerunner?.again({}) ?? null) : null;
  if (request === null || (request.edits ?? []).length > 0) return null;
  return { ...request, want: ours ? OURS : ANY, listed: false };
}
