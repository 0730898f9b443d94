/**
 * Running models from the page: one job of the form at a time, and what views ask for.
 *
 * In:   a form or a view's request.
 * Out:  progress, and a new recording that is opened when it is there.
 */

import { type RecordingSource, Refusal } from "../source";
import type { Job, JobRequest, ModelDescription, Preset } from "../types";
import type { Workbench } from "../view";
import { emptyForm, type Form, presetRequest, requestOf, withModel, withPreset, withRequest } from "./form";
import { type Signal, signal } from "./signals";
import { type App, pickSelection, sentenceOf } from "./state";

export interface Running {
  readonly request: JobRequest;
  readonly job: Job | null; // null until the server has taken it
}

export interface Runs {
  readonly form: Signal<Form>;
  readonly models: Signal<readonly ModelDescription[]>;
  readonly running: Signal<Running | null>;
  readonly trouble: Signal<string | null>;
  /** Fill in part of the form. */
  change(part: Partial<Form>): void;
  /** Fill in the text and model that made a recording, unless somebody is filling in something else. */
  follow(source: RecordingSource): void;
  loadModels(): Promise<void>;
  start(): void;
  startPreset(preset: Preset): void;
  cancel(): void;
  /** What made a recording, where that is known. */
  requestBehind(source: RecordingSource): JobRequest | null;
  /** What views get; null where no model can run. */
  workbench(source: RecordingSource): Workbench | null;
  stop(): void;
}

export function createRuns(app: App): Runs {
  const form = signal<Form>(emptyForm);
  const models = signal<readonly ModelDescription[]>([]);
  const running = signal<Running | null>(null);
  const trouble = signal<string | null>(null);
  const requests = new Map<string, JobRequest>(); // by recording
  let controller: AbortController | null = null;
  let touched = false; // by a person, since the last run

  const run = async (
    request: JobRequest,
    heard: Parameters<Workbench["run"]>[1],
    signal: AbortSignal,
  ): Promise<string> => {
    if (!app.bench) throw new Refusal(app.words.peek().noWorkbench, "no_workbench", 0);
    const id = await app.bench.run(request, heard, signal);
    requests.set(id, request);
    void app.refreshRecordings().catch(() => {});
    return id;
  };

  const begin = async (request: JobRequest, preset: Preset | null = null): Promise<void> => {
    controller?.abort();
    const mine = new AbortController();
    controller = mine;
    touched = false;
    trouble.value = null;
    running.value = { request, job: null };
    app.announce(app.words.peek().running);
    try {
      const id = await run(
        request,
        (event) => {
          if ("job" in event && controller === mine) running.value = { request, job: event.job };
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
      const stopped = error instanceof DOMException && error.name === "AbortError";
      if (stopped) app.announce(say.cancelled);
      else trouble.value = sentenceOf(error, app);
      if (!stopped) app.announce(trouble.peek() ?? "");
    } finally {
      if (controller === mine) {
        controller = null;
        running.value = null;
      }
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
      if (!app.bench || models.peek().length > 0) return;
      models.value = await app.bench.models();
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
    requestBehind,
    workbench(source) {
      if (!app.bench || app.about.peek()?.workbench === false) return null;
      return {
        run,
        again(change) {
          const request = requestBehind(source);
          if (!request) return null;
          const { target: _, ...open } = request; // with a target there is nothing to write
          return {
            ...(change.decode ? open : request),
            ...(change.edits ? { edits: [...(request.edits ?? []), ...change.edits] } : {}),
            ...(change.multiplier === undefined ? {} : { multiplier: change.multiplier }),
            ...(change.decode ? { kind: "generate" as const, decode: change.decode } : {}),
          };
        },
        open: (id) => app.source.open(id),
        go: (id) => void app.go(id),
        ...(app.bench.play ? { play: app.bench.play } : {}),
      };
    },
    stop() {
      controller?.abort();
      controller = null;
    },
  };
}
