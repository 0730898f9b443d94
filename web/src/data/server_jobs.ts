/**
 * What needs the model again, asked over HTTP: jobs with progress, and recordings that come and go.
 *
 * In:   a JobRequest.
 * Out:  the id of a new recording, with every stage and step told on the way.
 */

import type {
  About,
  Job,
  JobRequest,
  JobStage,
  ModelDescription,
  PlayResult,
  PlayStep,
  Preset,
  Session,
  StepDescription,
  Visibility,
} from "../api/types";
import { Refusal } from "../core/source";
import type { Rerunner } from "../core/view";
import { words } from "../i18n/hosts";
import { aborted, type Connection, withSignal } from "./http";

export type Heard = (event: { readonly job: Job } | { readonly step: StepDescription }) => void;

/** Everything the shell can ask of the host besides the recordings themselves. */
export interface ServerJobs {
  about(): Promise<About>;
  /** Who is signed in, where the server has users. */
  session?(): Promise<Session>;
  signOut?(): Promise<void>;
  /** Says who may see a recording or a training run beside its owner. */
  share?(kind: "recordings" | "runs", id: string, visibility: Visibility): Promise<void>;
  models(): Promise<readonly ModelDescription[]>;
  presets(): Promise<readonly Preset[]>;
  /** Runs; aborting the signal cancels the job. */
  run(request: JobRequest, heard: Heard, signal: AbortSignal): Promise<string>;
  /** Every job of this person that the server remembers, started here or elsewhere; the newest first. */
  jobs(): Promise<readonly Job[]>;
  /** Listens to a job that was started before, as `run` does to its own. */
  resume(job: Job, heard: Heard, signal: AbortSignal): Promise<string>;
  cancel(id: string): Promise<void>;
  /** Measures causes; aborting the signal stops it. */
  measure?: NonNullable<Rerunner["measure"]>;
  /** Trains a topic of the playground; aborting the signal stops it. */
  play?: NonNullable<Rerunner["play"]>;
  /** Sends a picture or a sound; its id is the `media` of a request. */
  sendInput?(file: Blob, signal: AbortSignal): Promise<string>;
  /** Opens a bundle that a person brings. */
  upload(bundle: Blob): Promise<string>;
  /** Where the bundle of a recording can be had; null where it cannot. */
  download(id: string): string | null;
  remove(id: string): Promise<void>;
  /** Names a branch of a generated text. */
  rename?: NonNullable<Rerunner["rename"]>;
  /** Asks about training, or asks for it: what is at a path below training/. */
  training?<T>(path: string, method?: "GET" | "POST" | "DELETE", body?: unknown): Promise<T>;
}

const SHORTEST = 100; // ms between two questions whether a job still waits, at first
const LONGEST = 1000; // and at last

interface Progress {
  readonly stage: JobStage;
  readonly share: number | null;
  readonly detail: string | null;
}

export function createServerJobs(
  connection: Connection,
  events: (url: string) => EventSource = (url) => new EventSource(url),
): ServerJobs {
  const resume: ServerJobs["resume"] = (job, heard, signal) => {
    heard({ job });
    const listener: JobListener<StepDescription, string> = {
      job: (now) => heard({ job: now }),
      step: (step) => heard({ step }),
      result: (end) => end.recording ?? null,
    };
    return follow(connection, events, job, listener, signal);
  };
  return {
    about: () => connection.json("about"),
    session: () => connection.json("session"),
    async signOut() {
      await connection.ask("session", { method: "DELETE" });
    },
    async share(kind, id, visibility) {
      await connection.ask(`${kind}/${encodeURIComponent(id)}/visibility`, {
        method: "PUT",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ visibility }),
      });
    },
    models: () => connection.json("models"),
    presets: () => connection.json("presets"),
    async run(request, heard, signal) {
      const job = await connection.send<Job>("jobs", request); // without the signal: see `follow`
      return resume(job, heard, signal);
    },
    jobs: () => connection.json("jobs?mine=1"),
    resume,
    async cancel(id) {
      await connection.ask(`jobs/${encodeURIComponent(id)}`, { method: "DELETE" });
    },
    async measure<Step>(
      what: string,
      request: object,
      heard: (event: { job: Job } | { step: Step }) => void,
      signal: AbortSignal,
    ) {
      const job = await connection.send<Job>(what, request);
      const listener: JobListener<Step, string> = {
        job: (now) => heard({ job: now }),
        step: (step) => heard({ step }),
        result: (end) => end.recording ?? "",
      };
      return follow(connection, events, job, listener, signal);
    },
    async play(topic, settings, heard, signal) {
      const query = new URLSearchParams(settings).toString();
      const path = `playground/${encodeURIComponent(topic)}${query && `?${query}`}`;
      const job = await connection.json<Job>(path, { method: "POST" });
      const listener: JobListener<PlayStep, PlayResult> = {
        job: () => {},
        step: heard,
        result: (end) => (end as { readonly play?: PlayResult }).play ?? null,
      };
      return follow(connection, events, job, listener, signal);
    },
    sendInput: (file, signal) => sendFile(connection, "inputs", file, signal),
    upload: (bundle) => sendFile(connection, "recordings", bundle),
    download: (id) => `${connection.base}recordings/${encodeURIComponent(id)}/bundle`,
    async remove(id) {
      await connection.ask(`recordings/${encodeURIComponent(id)}`, { method: "DELETE" });
    },
    async rename(id, name) {
      await connection.ask(`recordings/${encodeURIComponent(id)}/branch`, {
        method: "PUT",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ name }),
      });
    },
    async training<T>(path: string, method = "GET", body?: unknown) {
      const response = await connection.ask(`training${path}`, {
        method,
        ...(body === undefined
          ? {}
          : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
      });
      return (response.status === 204 ? null : await response.json()) as T;
    },
  };
}

/** Sends a file as it is; its id there. */
async function sendFile(
  connection: Connection,
  path: string,
  file: Blob,
  signal?: AbortSignal,
): Promise<string> {
  const answer = await connection.json<{ readonly id: string }>(path, {
    method: "POST",
    headers: { "Content-Type": "application/octet-stream" },
    body: file,
    ...withSignal(signal),
  });
  return answer.id;
}

/** Nobody answers, or a proxy says that nobody does: a server that starts again goes on with its jobs. */
function isAway(error: unknown): boolean {
  return !(error instanceof Refusal) || [0, 502, 503, 504].includes(error.status);
}

/** Told of a job on its way; `result`: what it ends with, null where that is not there. */
interface JobListener<Step, Result> {
  job(job: Job): void;
  step(step: Step): void;
  result(end: Partial<Job>): Result | null;
}

/**
 * Listens to a job until it ends. A lost connection is taken up again by the browser; meanwhile the job is asked.
 * While it waits for others it is asked now and then: a browser opens six connections to a server, for all its tabs.
 * A job that is cancelled before its id is known is cancelled here, so that it does not run on unheard.
 */
function follow<Step, Result>(
  connection: Connection,
  events: (url: string) => EventSource,
  first: Job,
  listener: JobListener<Step, Result>,
  signal: AbortSignal,
): Promise<Result> {
  const path = `jobs/${encodeURIComponent(first.id)}`;
  let job = first;
  let stream: EventSource | null = null;
  let over = false;
  return new Promise((resolve, reject) => {
    const end = (outcome: () => void): void => {
      over = true;
      stream?.close();
      signal.removeEventListener("abort", cancel);
      outcome();
    };
    const cancel = (): void => {
      connection.ask(path, { method: "DELETE" }).catch(() => {});
      end(() => reject(aborted()));
    };
    const tell = (change: Partial<Job>): void => {
      job = { ...job, ...change };
      listener.job(job);
    };
    /** Says whether the job is over, and ends with it. */
    const settle = (state: Job["state"], last: Partial<Job>): boolean => {
      const result = state === "done" ? listener.result(last) : null;
      if (result !== null) end(() => resolve(result));
      else if (state === "done")
        end(() => reject(new Refusal((language) => words(language).lost, "lost", 0)));
      else if (state === "failed")
        end(() => reject(new Refusal(last.message ?? "", last.code ?? "failed", 422)));
      else if (state === "cancelled") end(() => reject(aborted()));
      else return false;
      return true;
    };
    const listen = (): void => {
      const heard = events(`${connection.base}${path}/events`);
      stream = heard;
      const on = <T>(name: string, act: (data: T) => void): void => {
        heard.addEventListener(name, (event) =>
          act(JSON.parse((event as MessageEvent<string>).data || "null") as T),
        );
      };
      on<Progress>("progress", (progress) =>
        tell({ state: progress.stage === "queued" ? "queued" : "running", ...progress }),
      );
      on<Step>("step", (step) => listener.step(step));
      for (const state of ["done", "failed", "cancelled"] as const)
        on<Partial<Job> | null>(state, (last) => void settle(state, last ?? {}));
      heard.onerror = () => {
        connection.json<Job>(path).then(
          (now) => {
            if (over || settle(now.state, now)) return;
            tell(now);
            if (heard.readyState === EventSource.CLOSED) void queue();
          },
          (error: unknown) => {
            if (over || heard.readyState !== EventSource.CLOSED) return;
            if (isAway(error)) void queue();
            else end(() => reject(error));
          },
        );
      };
    };
    const queue = async (): Promise<void> => {
      for (let pause = SHORTEST; !over; pause = Math.min(2 * pause, LONGEST)) {
        try {
          const now = await connection.json<Job>(path);
          if (over) return;
          if (now.state !== "queued") return listen(); // it is told from its start
          tell(now);
        } catch (error) {
          if (!isAway(error)) return end(() => reject(error));
        }
        await new Promise((wake) => setTimeout(wake, pause));
      }
    };
    if (signal.aborted) return cancel();
    signal.addEventListener("abort", cancel, { once: true });
    if (job.state === "queued") void queue();
    else listen();
  });
}
