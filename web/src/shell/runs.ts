/**
 * Running models from the page: one job of the form at a time, and what views ask for.
 *
 * In:   a form or a view's request; after a reload, what the server says of the job that this window had started.
 * Out:  progress, and a new recording that is opened when it is there. A run of another window is shown, not followed.
 */

import type { EditRequest, Job, JobRequest, Kind, ModelDescription, Preset, SideName } from "../api/types";
import { familiesOf } from "../core/maps";
import type { Place } from "../core/place";
import { type RecordingSource, Refusal } from "../core/source";
import { isAbort } from "../core/tasks";
import type { Rerunner } from "../core/view";
import type { Heard, ServerJobs } from "../data/server_jobs";
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
import { signal } from "./signals";
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

const MOMENT = 500; // ms after which the progress of a glance is shown
const PAUSE = 1000; // ms between two questions about runs of other windows

export class Runs {
  readonly form = signal<Form>(emptyForm);
  readonly models = signal<readonly ModelDescription[]>([]);
  readonly running = signal<Running | null>(null);
  readonly asked = signal<readonly Asked[]>([]); // by views
  readonly other = signal<Job | null>(null); // a run of another window, until it is over; where it is done, its result
  readonly trouble = signal<unknown>(null); // why the last run failed; null: it did not
  private readonly requests = new Map<string, JobRequest>(); // by recording
  private controller: AbortController | null = null;
  private drawn = ""; // the sample that was run last
  private touched = false; // by a person, since the last run
  private stopped = false;
  private opened = ""; // the model of the recording that is open
  private own = ""; // the recording that was made of the form's own picture or sound
  private next: File | null = null; // to be looked at as soon as the one before has been
  private looking = false;

  constructor(private readonly app: App) {}

  /** Fill in part of the form. */
  readonly change = (part: Partial<Form>): void => {
    this.touched = true;
    this.form.value = { ...this.form.peek(), ...part };
  };

  /** Fill in the text and model that made a recording, unless the form has been edited since the last run. */
  follow(source: RecordingSource): void {
    if (this.touched || source.description.id === this.own) return;
    const request = this.originalRequest(source);
    const kept = request?.sequence === "text" || request?.media_of != null;
    this.opened = source.description.evidence.model;
    if (request && kept) this.form.value = withRequest(this.form.peek(), request);
    else if (!request) this.chooseModel(this.models.peek().find(({ name }) => name === this.opened));
  }

  private chooseModel(model: ModelDescription | undefined): void {
    const form = this.form.peek();
    if (model && model.name !== form.model)
      this.form.value = withModel(form, model, this.app.language.peek());
  }

  async loadModels(): Promise<void> {
    const { form, models } = this;
    if (!this.app.server || models.peek().length > 0) return;
    models.value = await this.app.server.models();
    const listed = models.peek();
    if (form.peek().model === "")
      this.chooseModel(listed.find(({ name }) => name === this.opened) ?? listed[0]);
  }

  /** Run what the form says; of the samples of a task the next one, where this one has been run. */
  start(): void {
    const { model, sequence, sourceLanguage, sample } = this.form.peek();
    const asked = (number: number): string => [model, sourceLanguage, number].join();
    if (sequence === "task") {
      const number = asked(sample) === this.drawn ? sample + 1 : sample;
      this.form.value = { ...this.form.peek(), sample: number };
      this.drawn = asked(number);
    }
    const { file } = this.form.peek();
    void this.attend(requestOf(this.form.peek(), this.model()), null, undefined, file);
  }

  /**
   * Looks at what was just drawn, or listens to what was just said: at once, and without a place in the list. What is
   * drawn meanwhile is looked at afterwards, the latest only.
   */
  async glance(file: File): Promise<void> {
    this.change({ file });
    this.next = file;
    if (this.looking) return;
    this.looking = true;
    while (this.next && !this.stopped) {
      const now = this.next;
      this.next = null;
      if (this.form.peek().file !== now) continue; // another model or file was chosen meanwhile
      const model = this.model();
      const request = { ...requestOf(this.form.peek(), model), listed: false };
      this.touched = false;
      try {
        await this.openOwn(await this.runSoon(request, now), model);
        this.trouble.value = null;
      } catch (error) {
        const cancelled = isAbort(error);
        if (cancelled) this.next = null;
        else this.trouble.value = error;
        this.app.announce(cancelled ? this.app.words.peek().cancelled : this.app.explain(error));
      }
    }
    this.looking = false;
  }

  /** Runs what takes a moment; its progress is shown where it takes longer, as when a worker starts. */
  private async runSoon(request: JobRequest, file: File): Promise<string> {
    const mine = new AbortController();
    let job: Job | null = null;
    const timer = setTimeout(() => {
      this.controller ??= mine;
      if (this.controller === mine) this.running.value = { job };
    }, MOMENT);
    const heard: Heard = (event) => {
      if ("job" in event) job = event.job;
      if (this.controller === mine) this.running.value = { job };
    };
    try {
      return await this.run(request, heard, mine.signal, null, file);
    } finally {
      clearTimeout(timer);
      if (this.controller === mine) {
        this.controller = null;
        this.running.value = null;
      }
    }
  }

  /** Opens what was made of the form's picture or sound, in a view that shows it. */
  private async openOwn(id: string, model: ModelDescription | undefined): Promise<void> {
    const { app } = this;
    this.own = id;
    const reads = model?.reads ?? "text";
    const open = app.open.peek()?.description;
    const stays = reads === "text" || open?.source[reads]; // in a view that shows such a recording
    const { decoder_layers: writes, layers, head } = model ?? {};
    const wrote = open?.maps.some((map) => map.place.kind === "cross") ?? false;
    const place = (stack: string, kind: Kind, count: number) => ({
      place: { stack, kind, layer: count - 1, step: null }, // the last
    });
    await app.go(id, {
      ...(stays ? {} : { view: reads, head: head ?? "mean" }),
      ...(stays && wrote === Boolean(writes) // words first; without any, what the class is told from
        ? {}
        : writes
          ? place("decoder", "cross", writes)
          : reads === "text"
            ? {}
            : place("encoder", "self", layers ?? 1)),
    });
    app.announce(app.words.peek().finished);
  }

  /** What is known of the model that is chosen. */
  model(): ModelDescription | undefined {
    return this.models.value.find((each) => each.name === this.form.value.model);
  }

  startPreset(preset: Preset): void {
    this.form.value = withPreset(this.form.peek(), preset);
    this.app.panel.value = "input";
    void this.attend(requestOf(this.form.peek(), this.model()), preset);
  }

  cancel(): void {
    this.controller?.abort();
  }

  cancelOther(): void {
    const job = this.other.peek();
    this.other.value = null;
    if (job) this.app.server?.cancel(job.id).catch(() => {});
  }

  /** Find what runs already: ours is taken up again, another window's is watched. */
  async resume(): Promise<void> {
    const { server } = this.app;
    if (!server || this.running.peek()) return;
    const jobs = await server.jobs();
    const started = this.remembered();
    const mine = jobs.find(({ id }) => id === started?.id);
    if (started && mine) {
      if (!this.touched) this.form.value = withRequest(this.form.peek(), started.request);
      return this.attend(started.request, null, mine);
    }
    this.remember(null);
    const models = jobs.filter(({ kind, listed }) => kind !== "play" && listed !== false);
    const next =
      models.find(({ state }) => state === "running") ?? models.findLast(({ state }) => state === "queued");
    if (next) void this.watch(server, next);
  }

  /** What made a recording, where that is known. */
  originalRequest(source: RecordingSource): JobRequest | null {
    const { id, request } = source.description;
    const made = request ?? this.requests.get(id);
    if (made?.media) return { ...made, media: null, media_of: id }; // what was sent is kept in the recording
    if (made) return made;
    const preset = this.app.presets.peek().find((each) => each.recording === id);
    return preset ? presetRequest(preset) : null;
  }

  /**
   * The run that made a recording, once more with a head silenced or, with an edge, that edge cut; without this edit
   * where it has it. null: not known.
   */
  edit(
    source: RecordingSource,
    { stack, kind, layer }: Place,
    head: number,
    edge?: { readonly query: number; readonly key: number },
  ): { readonly edited: boolean; start(): void } | null {
    const place = { stack, attention: kind, layer, head };
    const edit = edge
      ? ({ kind: "cut", ...place, ...edge } as const)
      : ({ kind: "ablate", ...place, how: "zero", reference: [] } as const);
    const alike = (each: EditRequest): boolean =>
      !(each.kind === "ablate" && each.positions) && // at some tokens alone: not what the button does
      Object.entries(edit).every(
        ([name, value]) => String(each[name as keyof EditRequest] ?? "") === String(value),
      );
    const edits = this.rerunner(source)?.again({})?.edits ?? [];
    const others = edits.filter((each) => !alike(each));
    const edited = others.length < edits.length;
    return this.withEdits(source, edited ? others : [...others, edit], edited);
  }

  /** The run that made a recording, once more with a token hidden from all others; seen again where that is its edit. */
  cutOut(source: RecordingSource, side: SideName, token: number) {
    const maps = source.description.maps.filter((map) => map.key_side === side);
    const cuts = familiesOf(maps).map(
      ({ stack, kind }) => ({ kind: "cut", stack, attention: kind, key: token }) as const,
    );
    const alike = (each: EditRequest): boolean =>
      each.kind === "cut" &&
      each.key === token &&
      [each.layer, each.head, each.query].every((which) => which == null) && // in all heads, for all queries
      cuts.some(({ stack, attention }) => each.stack === stack && each.attention === attention);
    const edits = this.rerunner(source)?.again({})?.edits ?? [];
    const others = edits.filter((each) => !alike(each));
    const edited = others.length < edits.length;
    return this.withEdits(source, edited ? others : [...edits, ...cuts], edited);
  }

  /** The run that made a recording, once more with other edits. */
  withEdits(source: RecordingSource, edits: readonly EditRequest[], edited = true) {
    const request = this.rerunner(source)?.again({}) ?? null;
    return request && { edited, start: () => void this.attend({ ...request, edits: [...edits] }) };
  }

  /** What views get; null where no model can run. */
  rerunner(source: RecordingSource | null): Rerunner | null {
    const { app } = this;
    const { server } = app;
    if (!server || app.about.peek()?.workbench === false) return null;
    return {
      run: (request, heard, signal) => this.runForView(request, heard, signal),
      again: (change) => {
        const request = source && this.originalRequest(source);
        if (!request) return null;
        const { target: _, ...open } = request; // with a target there is nothing to write
        return {
          ...(change.decode ? open : request),
          parent: source.description.id,
          branch: null,
          ...(change.edits ? { edits: [...(request.edits ?? []), ...change.edits] } : {}),
          ...(change.decode ? { kind: "generate" as const, decode: change.decode } : {}),
        };
      },
      open: (id) => app.source.open(id),
      go: (id, change) => void app.go(id, change),
      whenFree: (signal) => {
        const isOver = ({ state }: Job): boolean => state !== "running" && state !== "queued";
        return this.poll(server, (jobs) => jobs.every(isOver), signal);
      },
      ...(server.measure ? { measure: server.measure } : {}),
      ...(server.play ? { play: server.play } : {}),
      ...(server.rename ? { rename: server.rename } : {}),
    };
  }

  stop(): void {
    this.stopped = true;
    this.controller?.abort();
    this.controller = null;
  }

  private remember(started: Started | null): void {
    this.app.session.set("job", JSON.stringify(started));
  }

  private remembered(): Started | null {
    try {
      return JSON.parse(this.app.session.get("job") ?? "null") as Started | null;
    } catch {
      return null; // not written by this page
    }
  }

  /** Runs a request, or listens again to its job. A reload finds it again, unless only its view looks for it. */
  private async run(
    request: JobRequest,
    heard: Heard,
    signal: AbortSignal,
    job: Job | null = null,
    file: File | null = null,
  ): Promise<string> {
    const { app } = this;
    const { server } = app;
    if (!server) throw new Refusal((language) => words(language).noRerunner, "no_workbench", 0);
    if (file && server.sendInput) request = { ...request, media: await server.sendInput(file, signal) };
    if (request.listed === false) return server.run(request, heard, signal);
    let mine = "";
    const listen: Heard = (event) => {
      if ("job" in event && mine === "") {
        mine = event.job.id;
        this.remember({ id: mine, request });
      }
      heard(event);
    };
    try {
      const id = await (job ? server.resume(job, listen, signal) : server.run(request, listen, signal));
      this.requests.set(id, request);
      void app.refreshRecordings().catch(() => {});
      return id;
    } finally {
      if (this.remembered()?.id === mine) this.remember(null);
    }
  }

  /** For a view: listed in `asked` until it is over, since its view may be left meanwhile. */
  private async runForView(request: JobRequest, heard: Heard, signal: AbortSignal): Promise<string> {
    const { app, asked } = this;
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
      const listen: Heard = (event) => {
        if ("job" in event) {
          const next = { ...known, job: event.job };
          note(next);
          known = next;
        }
        heard(event);
      };
      const id = await this.run(request, listen, mine.signal);
      if (away() && request.listed !== false) app.say(app.words.peek().finished);
      return id;
    } catch (error) {
      if (away() && !isAbort(error)) app.say(app.explain(error)); // its own place is not seen
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
      note();
    }
  }

  /** Runs what the form asks for, or listens again to its job, and opens the result. */
  private async attend(
    request: JobRequest,
    preset: Preset | null = null,
    job?: Job,
    file: File | null = null,
  ): Promise<void> {
    const { app } = this;
    this.controller?.abort();
    const mine = new AbortController();
    this.controller = mine;
    this.touched = false;
    this.trouble.value = null;
    this.running.value = { job: null };
    const model = this.model();
    app.announce(app.words.peek().running);
    try {
      const heard: Heard = (event) => {
        if ("job" in event && this.controller === mine) this.running.value = { job: event.job };
      };
      const id = await this.run(request, heard, mine.signal, job, file);
      if (this.controller !== mine) return;
      if (file) return await this.openOwn(id, model);
      await app.go(id, preset ? pickSelection(preset) : {});
      app.preset.value = preset && { ...preset, recording: id };
      app.announce(app.words.peek().finished);
    } catch (error) {
      if (this.controller !== mine) return;
      if (isAbort(error)) app.announce(app.words.peek().cancelled);
      else {
        this.trouble.value = error;
        app.announceFailure(error);
      }
    } finally {
      if (this.controller === mine) {
        this.controller = null;
        this.running.value = null;
      }
    }
  }

  /** Asks for all jobs now and then until `isEnough`: without a connection of its own, of which there are only few. */
  private async poll(
    server: ServerJobs,
    isEnough: (jobs: readonly Job[]) => boolean,
    signal?: AbortSignal,
  ): Promise<void> {
    for (let over = false; !over && !this.stopped && !signal?.aborted; ) {
      await new Promise((wake) => setTimeout(wake, PAUSE));
      const jobs = await server.jobs().catch(() => null); // the server is gone for a while
      over = jobs !== null && isEnough(jobs);
    }
  }

  /** Shows a run of another window until it is over. */
  private watch(server: ServerJobs, first: Job): Promise<void> {
    this.other.value = first;
    return this.poll(server, (jobs) => {
      if (this.other.peek()?.id !== first.id) return true;
      const now = jobs.find(({ id }) => id === first.id);
      const shown = now && now.state !== "failed" && now.state !== "cancelled";
      this.other.value = shown ? now : null;
      if (now?.state === "done") void this.app.refreshRecordings().catch(() => {});
      return !shown || now.state === "done";
    });
  }
}
