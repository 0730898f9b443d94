/**
 * What needs the model again, asked over HTTP: jobs with progress, and recordings that come and go.
 *
 * In:   a JobRequest.
 * Out:  the id of a new recording, with every stage and step told on the way.
 */

import type { Connection } from "./http";
import { Refusal } from "./source";
import type {
  About,
  Job,
  JobRequest,
  JobStage,
  ModelDescription,
  Play,
  PlayStep,
  Preset,
  StepDescription,
} from "./types";
import type { Workbench } from "./view";

export type Heard = (event: { readonly job: Job } | { readonly step: StepDescription }) => void;

/** Everything the shell can ask of the host besides the recordings themselves. */
export interface Bench {
  about(): Promise<About>;
  models(): Promise<readonly ModelDescription[]>;
  presets(): Promise<readonly Preset[]>;
  /** Runs; aborting the signal cancels the job. */
  run(request: JobRequest, heard: Heard, signal: AbortSignal): Promise<string>;
  /** Trains a topic of the playground; aborting the signal stops it. */
  play?: NonNullable<Workbench["play"]>;
  /** Opens a bundle that a person brings. */
  upload(bundle: Blob): Promise<string>;
  /** Where the bundle of a recording can be had; null where it cannot. */
  download(id: string): string | null;
  remove(id: string): Promise<void>;
}

interface Progress {
  readonly stage: JobStage;
  readonly share: number | null;
  readonly detail: string | null;
}

export function createHttpBench(
  connection: Connection,
  events: (url: string) => EventSource = (url) => new EventSource(url),
): Bench {
  return {
    about: () => connection.json("about"),
    models: () => connection.json("models"),
    presets: () => connection.json("presets"),
    async run(request, heard, signal) {
      const job = await connection.send<Job>("jobs", request); // without the signal: see `follow`
      heard({ job });
      const told: Told<StepDescription, string> = {
        job: (now) => heard({ job: now }),
        step: (step) => heard({ step }),
        result: (end) => end.recording,
      };
      return follow(connection, events, job, told, signal);
    },
    async play(topic, settings, heard, signal) {
      const query = new URLSearchParams(settings).toString();
      const path = `playground/${encodeURIComponent(topic)}${query && `?${query}`}`;
      const job = await connection.json<Job>(path, { method: "POST" });
      const told: Told<PlayStep, Play> = {
        job: () => {},
        step: heard,
        result: (end) => (end as { readonly play?: Play }).play ?? null,
      };
      return follow(connection, events, job, told, signal);
    },
    async upload(bundle) {
      const answer = await connection.json<{ readonly id: string }>("recordings", {
        method: "POST",
        headers: { "Content-Type": "application/octet-stream" },
        body: bundle,
      });
      return answer.id;
    },
    download: (id) => `${connection.base}recordings/${encodeURIComponent(id)}/bundle`,
    async remove(id) {
      await connection.ask(`recordings/${encodeURIComponent(id)}`, { method: "DELETE" });
    },
  };
}

/** What is heard of a job on its way, and what it ends with; null: that is not there. */
interface Told<Step, Result> {
  job(job: Job): void;
  step(step: Step): void;
  result(end: Pick<Job, "recording">): Result | null;
}

/**
 * Listens to a job until it ends. A lost connection is taken up again by the browser; meanwhile the job is asked.
 * Whoever cancels before the server has named the job cancels it here: it must not run on with nobody listening.
 */
function follow<Step, Result>(
  connection: Connection,
  events: (url: string) => EventSource,
  first: Job,
  told: Told<Step, Result>,
  signal: AbortSignal,
): Promise<Result> {
  const path = `jobs/${encodeURIComponent(first.id)}`;
  let job = first;
  return new Promise((resolve, reject) => {
    const stream = events(`${connection.base}${path}/events`);
    const end = (outcome: () => void): void => {
      stream.close();
      signal.removeEventListener("abort", cancel);
      outcome();
    };
    const cancel = (): void => {
      connection.ask(path, { method: "DELETE" }).catch(() => {});
      end(() => reject(new DOMException("Cancelled.", "AbortError")));
    };
    const tell = (change: Partial<Job>): void => {
      job = { ...job, ...change };
      told.job(job);
    };
    const finish = (last: Pick<Job, "recording">): void => {
      const result = told.result(last);
      if (result !== null) end(() => resolve(result));
      else end(() => reject(new Refusal("The result was lost on the way.", "lost", 0)));
    };
    const on = <T>(name: string, act: (data: T) => void): void => {
      stream.addEventListener(name, (event) =>
        act(JSON.parse((event as MessageEvent<string>).data || "null") as T),
      );
    };
    on<Progress>("progress", (progress) =>
      tell({ state: progress.stage === "queued" ? "queued" : "running", ...progress }),
    );
    on<Step>("step", (step) => told.step(step));
    on<Job>("done", finish);
    on<{ sentence: string; code: string }>("failed", (why) =>
      end(() => reject(new Refusal(why.sentence, why.code, 422))),
    );
    on("cancelled", () => end(() => reject(new DOMException("Cancelled.", "AbortError"))));
    stream.onerror = () => {
      connection.json<Job>(path).then(
        (now) => {
          if (now.state === "done") finish(now);
          else if (now.state === "failed")
            end(() => reject(new Refusal(now.sentence ?? "", now.code ?? "failed", 422)));
          else if (now.state === "cancelled") end(() => reject(new DOMException("Cancelled.", "AbortError")));
          else tell(now);
        },
        (error: unknown) => {
          if (stream.readyState === EventSource.CLOSED) end(() => reject(error));
        },
      );
    };
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
  });
}
