/**
 * A run of the model that outlives the view which asked for it: another language, another tab, and it goes on.
 *
 * In:   a rerunner and a request; `done`, what to do with the new recording.
 * Out:  how far it is, what it has written, how it ended. The view that shows it is told of each change.
 */

import type { Job, JobRequest, StepDescription } from "../api/types";
import { isAbort } from "../core/tasks";
import type { KeptWork, Rerunner } from "../core/view";

export class Run implements KeptWork {
  readonly steps: StepDescription[] = [];
  state: "running" | "done" | "failed" | "cancelled" = "running";
  job: Job | null = null; // null until the server has taken it
  result: string | null = null; // the new recording
  error: unknown = null; // why it failed
  private readonly controller = new AbortController();
  private listener: ((step: StepDescription | null) => void) | null = null;

  constructor(rerunner: Rerunner, request: JobRequest, done: (id: string) => void = () => {}) {
    const { signal } = this.controller;
    rerunner
      .run(
        request,
        (event) => {
          if ("job" in event) this.job = event.job;
          else this.steps.push(event.step);
          this.tell("step" in event ? event.step : null);
        },
        signal,
      )
      .then(
        (id) => {
          this.state = signal.aborted ? "cancelled" : "done"; // it may end while it is being stopped
          if (signal.aborted) return;
          this.result = id;
          done(id);
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
  show(listener: ((step: StepDescription | null) => void) | null): void {
    this.listener = listener;
  }

  /** End it; the view that shows it is told. */
  stop(): void {
    this.controller.abort();
  }

  private tell(step: StepDescription | null): void {
    this.listener?.(step);
  }
}
