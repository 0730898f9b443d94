/**
 * A run of the model, or a training of the playground. It outlives the view which asked for it where the view keeps it.
 *
 * In:   how it is started; `done`, what to do with its result: the id of a new recording.
 * Out:  how far it is, what it has written, how it ended. The view that shows it is told of each change.
 */

import type { Job, StepDescription } from "../api/types";
import { isAbort } from "../core/tasks";
import type { KeptWork } from "../core/view";

type Start<Step, Result> = (
  heard: (event: { readonly job: Job } | { readonly step: Step }) => void,
  signal: AbortSignal,
) => Promise<Result>;

export class Run<Step = StepDescription, Result = string> implements KeptWork {
  readonly steps: Step[] = [];
  state: "running" | "done" | "failed" | "cancelled" = "running";
  job: Job | null = null; // null until the server has taken it
  result: Result | null = null;
  error: unknown = null; // why it failed
  private readonly controller = new AbortController();
  private listener: ((step: Step | null) => void) | null = null;

  constructor(start: Start<Step, Result>, done: (result: Result) => void = () => {}) {
    const { signal } = this.controller;
    const heard: Parameters<typeof start>[0] = (event) => {
      if ("job" in event) this.job = event.job;
      else this.steps.push(event.step);
      this.tell("step" in event ? event.step : null);
    };
    start(heard, signal)
      .then(
        (result) => {
          this.state = signal.aborted ? "cancelled" : "done"; // it may end while it is being stopped
          if (signal.aborted) return;
          this.result = result;
          done(result);
        },
        (error: unknown) => {
          // It may have been cancelled here or in another window.
          this.state = signal.aborted || isAbort(error) ? "cancelled" : "failed";
          this.error = error;
        },
      )
      .finally(() => this.tell(null));
  }

  /** Calls `listener` from now on, with a new step or null, instead of what was given before. */
  show(listener: ((step: Step | null) => void) | null): void {
    this.listener = listener;
  }

  /** End it; the view that shows it is told. */
  stop(): void {
    this.controller.abort();
  }

  private tell(step: Step | null): void {
    this.listener?.(step);
  }
}
