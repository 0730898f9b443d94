/**
 * The attention of a search's best trial: what its run recorded while it trained, or its checkpoint run on one of its texts.
 *
 * In:   a search; the runs of the host; what can run models.
 * Out:  a button that opens a recording, or that says why there is none.
 */

import type { JobRequest, RunDescription, SearchDescription } from "../../api/types";
import { nearestStep } from "../../core/probes";
import { errorText } from "../../core/source";
import { isAbort } from "../../core/tasks";
import type { Stage } from "../../core/view";
import { Run } from "../../data/run";
import { button } from "../../marks/controls";
import { make } from "../../marks/make";
import { findTrial } from "./parts";
import type { Words } from "./words";

const LENGTH = 24; // tokens of a random text, where the run wrote no samples

type Found =
  | { readonly kind: "recording"; readonly id: string }
  | { readonly kind: "request"; readonly request: JobRequest }
  | { readonly kind: "none"; readonly why: () => string };

export class BestAttention {
  private run = ""; // of the best trial
  private found: Found | null = null; // null: not known yet
  private work: Run | null = null;

  constructor(
    private readonly stage: Stage<"none">,
    private readonly say: Words,
    private readonly changed: () => void,
  ) {}

  /** Ask what there is of the best trial, once for each run. */
  async follow(search: SearchDescription, signal: AbortSignal): Promise<void> {
    const run = search.shipped ? undefined : findTrial(search, search.best_trial)?.runs[0]?.run;
    if (run === undefined || run === this.run) return;
    this.stop();
    [this.run, this.found] = [run, null];
    let found: Found;
    try {
      found = await this.find(run, signal);
    } catch (error) {
      if (isAbort(error)) {
        this.run = ""; // asked again next time
        return;
      }
      found = { kind: "none", why: () => this.say.runGone };
    }
    if (this.run !== run) return;
    this.found = found;
    this.changed();
  }

  draw(): HTMLElement[] {
    const { found, work, say } = this;
    if (!found) return [];
    const opener = button(work?.state === "running" ? say.runningModel : say.attention, () =>
      this.open(found),
    );
    opener.dataset.key = `attention ${this.run}`;
    opener.disabled = found.kind === "none" || work?.state === "running";
    const why =
      found.kind === "none" ? found.why() : work?.state === "failed" ? this.explain(work.error) : "";
    return [opener, ...(why ? [make("p", { class: "note" }, why)] : [])];
  }

  stop(): void {
    this.work?.stop();
    this.work = null;
  }

  private async find(run: string, signal: AbortSignal): Promise<Found> {
    const source = await this.stage.runs!.open(run, signal);
    const id = bestProbe(source.run);
    if (id !== null) return { kind: "recording", id };
    if (!source.run.checkpoint) return { kind: "none", why: () => this.say.noCheckpoint };
    if (!this.stage.rerunner) return { kind: "none", why: () => this.say.noModels };
    const samples = (await source.samples?.(signal)) ?? [];
    const text = samples.at(-1)?.samples[0]?.input;
    const sequence = text
      ? ({ sequence: "text", text } as const)
      : { sequence: "random" as const, length: LENGTH };
    return { kind: "request", request: { kind: "record", model: `run:${run}`, ...sequence } as JobRequest };
  }

  private open(found: Found): void {
    if (found.kind === "recording") this.show(found.id);
    if (found.kind !== "request") return;
    const { rerunner } = this.stage;
    this.work = new Run(
      (heard, signal) => rerunner!.run(found.request, heard, signal),
      (id) => this.show(id),
    );
    this.work.show(() => this.changed());
    this.changed();
  }

  private show(recording: string): void {
    this.stage.selection.set({ recording, beside: "", run: "", view: "heatmap", step: null });
  }

  private explain(error: unknown): string {
    return this.stage.text(errorText(error));
  }
}

/** The recording of a run's first text that is nearest to its best step; null where it recorded none. */
export function bestProbe({ probes, events, last_step }: RunDescription): string | null {
  const best = events.findLast(({ kind }) => kind === "best")?.step ?? last_step;
  return probes[nearestStep(probes, best)]?.id ?? null;
}
