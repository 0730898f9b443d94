/**
 * Running models from the page: one job of the form at a time, and what views ask for.
 *
 * In:   a form or a view's request; after a reload, what the server says of the job that this window had started.
 * Out:  progress, and a new recording that is opened when it is there. A run of another window is shown, not followed.
 */

import type { Job, JobRequest, ModelDescription, Preset } from "../api/types";
import { type RecordingSource, Refusal } from "../core/source";
import type { Rerunner } from "../core/view";
import type { ServerJobs } from "../data/server_jobs";
import {
  emptyForm,
  type Form,
  pickSelection,
  presetRequest,
  requestOf,
  withModel,
  withPreset,
  withRequest,
} from "./form";
import { type Signal, signal } from "./signals";
import type { App } from "./state";
import { words } from "./words";

export interface Running {
  readonly job: Job | null; // null until the server has taken it
}

/** A run that a view has asked for, until it is over: it may go on while another view is looked at. */
export interface Asked {
  readonly view: string;
  readonly job: Job | null;
  stop(): void;
}

/** A job that this window has started, kept over a reload. */
interface Started {
  readonly id: string;
  readonly request: JobRequest;
}

const GLANCE = 1000; // ms between two looks at a run of another window

export interface Runs {
  readonly form: Signal<Form>;
  readonly models: Signal<readonly ModelDescription[]>;
  readonly running: Signal<Running | null>;
  readonly asked: Signal<readonly Asked[]>; // by views
  readonly other: Signal<Job | null>; // a run of another window, until it is over; where it is done, its result
  readonly trouble: Signal<unknown>; // why the last run failed; null: it did not
  /** Fill in part of the form. */
  change(part: Partial<Form>): void;
  /** Fill in the text and model that made a recording, unless somebody is filling in something else. */
  follow(source: RecordingSource): void;
  loadModels(): Promise<void>;
  start(): void;
  startPreset(preset: Preset): void;
  cancel(): void;
  cancelOther(): void;
  /** Find what runs already: ours is taken up again, another window's is watched. */
  resume(): Promise<void>;
  /** What made a recording, where that is known. */
  requestBehind(source: RecordingSource): JobRequest | null;
  /** What views get; null where no model can run. */
  rerunner(source: RecordingSource | null): Rerunner | null;
  stop(): void;
}

export function createRuns(app: App): Runs {
  const form = signal<Form>(emptyForm);
  const models = signal<readonly ModelDescription[]>([]);
  const running = signal<Running | null>(null);
  const asked = signal<readonly Asked[]>([]);
  const other = signal<Job | null>(null);
  const trouble = signal<unknown>(null);
  const requests = new Map<string, JobRequest>(); // by recording
  let controller: AbortController | null = null;
  let touched = false; // by a person, since the last run
  let stopped = false;

  const keep = (started: Started | null): void => app.session.set("job", JSON.stringify(started));
  const kept = (): Started | null => {
    try {
      return JSON.parse(app.session.get("job") ?? "null") as Started | null;
    } catch {
      return null; // somebody else's words
    }
  };

  /** Remembers the job from its first word on, until it is over. */
  const remembering = async (
    request: JobRequest,
    heard: Parameters<Rerunner["run"]>[1],
    begin: (heard: Parameters<Rerunner["run"]>[1]) => Promise<string>,
  ): Promise<string> => {
    let mine = "";
    try {
      const id = await begin((event) => {
        if ("job" in event && mine === "") {
          mine = event.job.id;
          keep({ id: mine, request });
        }
        heard(event);
      });
      requests.set(id, request);
      void app.refreshRecordings().catch(() => {});
      return id;
    } finally {
      if (kept()?.id === mine) keep(null);
    }
  };

  const run = async (
    request: JobRequest,
    heard: Parameters<Rerunner["run"]>[1],
    signal: AbortSignal,
  ): Promise<string> => {
    const { server } = app;
    if (!server) throw new Refusal((language) => words(language).noRerunner, "no_workbench", 0);
    if (request.listed === false) return server.run(request, heard, signal); // nobody but its view looks for it
    return remembering(request, heard, (told) => server.run(request, told, signal));
  };

  /** For a view: everybody knows of it until it is over, since its view may be left meanwhile. */
  const runForView: typeof run = async (request, heard, signal) => {
    const mine = new AbortController();
    const stop = (): void => mine.abort();
    let known: Asked = { view: app.view.peek(), job: null, stop };
    const away = (): boolean => app.view.peek() !== known.view;
    const note = (...now: Asked[]): void => {
      asked.value = [...asked.peek().filter((each) => each !== known), ...now];
    };
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    note(known);
    try {
      const tell: typeof heard = (event) => {
        if ("job" in event) {
          const next = { ...known, job: event.job };
          note(next);
          known = next;
        }
        heard(event);
      };
      const id = await run(request, tell, mine.signal);
      if (away() && request.listed !== false) app.say(app.words.peek().finished);
      return id;
    } catch (error) {
      const cancelled = error instanceof DOMException && error.name === "AbortError";
      if (away() && !cancelled) app.say(app.explain(error)); // its own place is not seen
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
      note();
    }
  };

  const attend = async (start: typeof run, request: JobRequest, preset: Preset | null): Promise<void> => {
    controller?.abort();
    const mine = new AbortController();
    controller = mine;
    touched = false;
    trouble.value = null;
    running.value = { job: null };
    app.announce(app.words.peek().running);
    try {
      const id = await start(
        request,
        (event) => {
          if ("job" in event && controller === mine) running.value = { job: event.job };
        },
        mine.signal,
      );
      if (controller !== mine) return;
      await app.go(id, preset ? pickSelection(preset) : {});
      app.preset.value = preset;
      app.announce(app.words.peek().finished);
    } catch (error) {
      if (controller !== mine) return;
      const say = app.words.peek();
      const cancelled = error instanceof DOMException && error.name === "AbortError";
      if (!cancelled) trouble.value = error;
      app.announce(cancelled ? say.cancelled : app.explain(error));
    } finally {
      if (controller === mine) {
        controller = null;
        running.value = null;
      }
    }
  };

  const begin = (request: JobRequest, preset: Preset | null = null): Promise<void> =>
    attend(run, request, preset);

  /** Looks at a run of another window now and then: it has no connection of its own, for there are only few. */
  const watch = async (server: ServerJobs, first: Job): Promise<void> => {
    other.value = first;
    while (!stopped && other.peek()?.id === first.id) {
      await new Promise((wake) => setTimeout(wake, GLANCE));
      const jobs = await server.jobs().catch(() => null); // the server is gone for a while
      if (!jobs || other.peek()?.id !== first.id) continue;
      const now = jobs.find(({ id }) => id === first.id);
      const shown = now && now.state !== "failed" && now.state !== "cancelled";
      other.value = shown ? now : null;
      if (now?.state === "done") return void app.refreshRecordings().catch(() => {});
    }
  };

  /** Asks the server, which knows of all runs, now and then. */
  const waitUntilFree = async (server: ServerJobs, signal: AbortSignal): Promise<void> => {
    for (let free = false; !free && !stopped && !signal.aborted; ) {
      await new Promise((wake) => setTimeout(wake, GLANCE));
      const jobs = await server.jobs().catch(() => null);
      free = jobs?.every(({ state }) => state !== "running" && state !== "queued") ?? false;
    }
  };

  const requestBehind = (source: RecordingSource): JobRequest | null => {
    const { id, request } = source.description;
    if (request) return request;
    const made = requests.get(id);
    if (made) return made;
    const preset = app.presets.peek().find((each) => each.recording === id);
    return preset ? presetRequest(preset) : null;
  };

  return {
    form,
    models,
    running,
    asked,
    other,
    trouble,
    change(part) {
      touched = true;
      form.value = { ...form.peek(), ...part };
    },
    follow(source) {
      const request = requestBehind(source);
      if (request?.sequence === "text" && !touched) form.value = withRequest(form.peek(), request);
    },
    async loadModels() {
      if (!app.server || models.peek().length > 0) return;
      models.value = await app.server.models();
      const first = models.peek()[0];
      if (first && form.peek().model === "") form.value = withModel(form.peek(), first);
    },
    start() {
      void begin(requestOf(form.peek()));
    },
    startPreset(preset) {
      form.value = withPreset(form.peek(), preset);
      app.panel.value = "input";
      void begin(requestOf(form.peek()), preset);
    },
    cancel() {
      controller?.abort();
    },
    cancelOther() {
      const job = other.peek();
      other.value = null;
      if (job) app.server?.cancel(job.id).catch(() => {});
    },
    async resume() {
      const { server } = app;
      if (!server || running.peek()) return;
      const jobs = await server.jobs();
      const started = kept();
      const mine = jobs.find(({ id }) => id === started?.id);
      if (started && mine) {
        if (!touched) form.value = withRequest(form.peek(), started.request);
        const again: typeof run = (request, heard, signal) =>
          remembering(request, heard, (told) => server.resume(mine, told, signal));
        return attend(again, started.request, null);
      }
      keep(null);
      const models = jobs.filter(({ kind, listed }) => kind !== "play" && listed !== false);
      const next =
        models.find(({ state }) => state === "running") ?? models.findLast(({ state }) => state === "queued");
      if (next) void watch(server, next);
    },
    requestBehind,
    rerunner(source) {
      const { server } = app;
      if (!server || app.about.peek()?.workbench === false) return null;
      return {
        run: runForView,
        again(change) {
          const request = source && requestBehind(source);
          if (!request) return null;
          const { target: _, ...open } = request; // with a target there is nothing to write
          return {
            ...(change.decode ? open : request),
            parent: source.description.id,
            ...(change.edits ? { edits: [...(request.edits ?? []), ...change.edits] } : {}),
            ...(change.multiplier === undefined ? {} : { multiplier: change.multiplier }),
            ...(change.decode ? { kind: "generate" as const, decode: change.decode } : {}),
          };
        },
        open: (id) => app.source.open(id),
        go: (id) => void app.go(id),
        whenFree: (signal) => waitUntilFree(server, signal),
        ...(server.play ? { play: server.play } : {}),
      };
    },
    stop() {
      stopped = true;
      controller?.abort();
      controller = null;
    },
  };
}
