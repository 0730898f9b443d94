/**
 * The state of the workbench: what is open, what is chosen, what runs. Panels read its signals and call its verbs.
 *
 * In:   a Source, a ServerJobs where models can run, a SelectionAddress for the selection.
 * Out:  signals, and one selection that the place mirrors.
 */

import type {
  About,
  AtlasEntry,
  Language,
  MetricDescription,
  Preset,
  RecordingEntry,
  RunEntry,
  Session,
  Visibility,
} from "../api/types";
import { fitTo } from "../core/maps";
import { type Catalogue, formatText, keepCatalogue, type Text } from "../core/messages";
import {
  createSelection,
  findCorrections,
  type LinkedSelection,
  nothingSelected,
  readSelection,
  type Selection,
  type SelectionStore,
} from "../core/selection";
import { errorText, type RecordingSource, Refusal, type Source } from "../core/source";
import { isAbort } from "../core/tasks";
import type { Mounted, Subject, Theme } from "../core/view";
import { Questions } from "../data/questions";
import type { ServerJobs } from "../data/server_jobs";
import { learn } from "../i18n/core";
import type { SelectionAddress } from "./address";
import { pickSelection } from "./form";
import { type Mirror, mirror } from "./mirror";
import { Runs } from "./runs";
import { derived, type ReadonlySignal, signal } from "./signals";
import { fitsIn, subjectFor, type Views } from "./views";
import { type AppWords, words } from "./words";

export interface PageStorage {
  get(name: string): string | null;
  set(name: string, value: string): void;
}

export interface AppOptions {
  readonly root: HTMLElement;
  readonly source: Source;
  readonly server: ServerJobs | null;
  readonly views: Views;
  readonly place: SelectionAddress;
  readonly remember: PageStorage;
  readonly session: PageStorage; // of this window alone
  readonly language: Language;
  readonly theme: Theme;
  readonly reducedMotion: boolean;
  readonly wholePage: boolean;
}

/** Something that went wrong, and what a person can do about it. It is put into words where it is drawn. */
export interface Trouble {
  readonly error: unknown;
  readonly again: (() => void) | null;
}

const nothingOpen: Subject = { kind: "none" };

function recordingOf(subject: Subject): RecordingSource | null {
  return subject.kind === "recording" ? subject.now : null;
}

/** Whether a subject is what a selection names. */
function isNamed(subject: Subject, { recording, beside, run, study }: Selection): boolean {
  if (subject.kind === "study") return run === "" && subject.study.atlas.entry.id === study;
  if (subject.kind === "runs") return subject.runs.map((each) => each.run.id).join(",") === run;
  if (subject.kind !== "recording") return false;
  const ids = [subject.now.description.id, subject.beside?.description.id ?? ""];
  return run === "" && study === "" && ids[0] === recording && ids[1] === beside;
}

const LISTED_RUNS = 20; // in the header: a view lists all of them

/** A run to be made: from a recipe, or as a copy of another run at about a step. */
export interface NewRun {
  readonly fork: string | null;
  readonly step: number | null;
}

export type PanelName = "input" | "interpretability" | "debugging" | "about";

export class App {
  readonly source: Source;
  readonly server: ServerJobs | null;
  readonly views: Views;
  readonly reducedMotion: boolean;
  readonly wholePage: boolean;
  readonly store: SelectionStore;
  readonly selection: ReadonlySignal<Selection>;
  readonly runs: Runs;
  readonly questions = new Questions(); // of the view on a recording that a training run made
  readonly root: HTMLElement;

  readonly language = signal<Language>("en");
  readonly theme = signal<Theme>("light");
  readonly catalogue = signal<Catalogue>({}); // of messages, in the page's language
  readonly words: ReadonlySignal<AppWords> = derived(() => words(this.language.value));
  readonly view = signal(""); // the chosen view's name, for those whom the rest of the selection does not concern
  readonly panel = signal<PanelName>("input");
  readonly recordings = signal<readonly RecordingEntry[]>([]);
  readonly presets = signal<readonly Preset[]>([]);
  readonly metrics = signal<readonly MetricDescription[] | null>(null); // null until they are known
  readonly about = signal<About | null>(null);
  readonly account = signal<Session | null>(null); // null: a host without users, or not known yet
  readonly trainingRuns = signal<readonly RunEntry[]>([]);
  readonly atlases = signal<readonly AtlasEntry[]>([]);
  readonly newRun = signal<NewRun | null>(null); // the form that is open
  readonly subject = signal<Subject>(nothingOpen);
  readonly open: ReadonlySignal<RecordingSource | null> = derived(() => recordingOf(this.subject.value));
  readonly opening = signal(true);
  readonly mounted = signal<Mounted | null>(null);
  magnify: ((direction: -1 | 0 | 1) => void) | null = null; // all of the view that is mounted
  readonly trouble = signal<Trouble | null>(null);
  readonly connected = signal(true);
  readonly preset = signal<Preset | null>(null); // the example that is being shown
  readonly announcement = signal("");
  readonly message = signal(""); // shown for a moment
  readonly comparing = signal(false); // a second recording is being chosen
  readonly refused = signal<unknown>(null); // why two recordings are shown side by side, not as a difference
  readonly playing = signal(false); // the time step moves by itself
  readonly shortcuts = signal(true);

  readonly session: PageStorage;
  private readonly remember: PageStorage;
  private readonly place: SelectionAddress;
  private began: Partial<Selection> = {}; // where the example or link that is open started
  private readonly mirror: Mirror;
  private readonly chosen = signal<Selection>(nothingSelected);
  private messages: Promise<void> = Promise.resolve(); // of the first language: texts wait for them
  private turn = 0; // only the last opening counts
  private requests = new AbortController(); // of the last opening
  private chosenIn = -1; // the opening during or after which a tab was clicked last

  constructor(options: AppOptions) {
    this.root = options.root;
    this.source = options.source;
    this.server = options.server;
    this.views = options.views;
    this.remember = options.remember;
    this.place = options.place;
    this.session = options.session;
    this.reducedMotion = options.reducedMotion;
    this.wholePage = options.wholePage;
    this.language.value = options.language;
    this.theme.value = options.theme;
    if (!options.server) this.panel.value = "interpretability";
    this.shortcuts.value = options.remember.get("shortcuts") !== "off";
    this.selection = this.chosen;
    const wanted = readSelection(options.place.read());
    this.store = createSelection({ ...nothingSelected, ...wanted }, (wish, before, changed) => {
      const open = this.open.peek();
      return open && open.description.id === wish.recording
        ? fitTo(open.description)(wish, before, changed)
        : wish;
    });
    this.chosen.value = this.store.get();
    this.view.value = this.store.get().view;
    this.store.subscribe((now, before) => {
      this.chosen.value = now;
      this.view.value = now.view;
      if (now.view !== before.view) this.views.load(now.view)?.catch(() => {}); // a view leads to another one
      const turned =
        now.recording !== before.recording ||
        now.beside !== before.beside ||
        now.run !== before.run ||
        now.study !== before.study;
      if (turned && !isNamed(this.subject.peek(), now)) void this.show(now, true);
    });
    this.mirror = mirror(this.store, options.place, (wish) => this.follow(wish));
    this.runs = new Runs(this);
  }

  /** Fetch what the first picture needs, then the rest. */
  async start(): Promise<void> {
    const wish = this.store.get();
    const link = this.place.read();
    this.messages = this.fetchMessages(this.language.peek()).then((catalogue) => {
      this.catalogue.value = catalogue;
    });
    const named = wish.recording !== "" || wish.run !== "" || wish.study !== "";
    const opening = named ? this.show(wish, true, link) : null;
    const { turn } = this;
    const metrics = this.source.metrics().catch(() => []); // without them views show what they can
    const server = this.askServer();
    try {
      const [recordings] = await Promise.all([this.source.recordings(), this.messages]);
      this.recordings.value = recordings;
      const first = recordings.find((each) => each.default) ?? recordings[0];
      const { view } = this.store.get();
      const clicked = view === wish.view ? {} : { view }; // a tab, while the list was fetched
      const waiting = !opening && turn === this.turn; // otherwise a link was followed meanwhile
      if (waiting && first)
        void this.show(
          { ...wish, ...this.openingOf(first, wish), ...clicked, recording: first.id },
          view !== "",
          link,
        );
      else if (waiting) await this.showFirst(wish);
    } catch (error) {
      this.opening.value = false;
      this.complain(error, () => void this.start());
    }
    void this.refreshTrainingRuns();
    void this.refreshAtlases();
    await server; // mounts the view once: a late answer must not mount it again while it is in use
    this.metrics.value = await metrics;
    await this.views.loadAll();
  }

  /** Where there is no recording: a training run or an atlas, as in the file of one. */
  private async showFirst(wish: LinkedSelection): Promise<void> {
    await Promise.all([this.refreshTrainingRuns(), this.refreshAtlases()]);
    const run = this.trainingRuns.peek().find(({ shipped }) => !shipped);
    const atlas = this.atlases.peek()[0];
    if (!run && atlas) await this.show({ ...wish, study: atlas.id });
    else if (run) await this.show({ ...wish, run: run.id });
    else this.opening.value = false;
  }

  private async askServer(): Promise<void> {
    if (!this.server) return;
    void this.refreshAccount();
    try {
      [this.about.value, this.presets.value] = await Promise.all([
        this.server.about(),
        this.server.presets(),
        this.messages,
      ]);
      if (!this.about.value.workbench && this.panel.peek() === "input") this.panel.value = "interpretability";
      if (!this.preset.peek()) this.preset.value = this.presetOf(this.store.get().recording);
      if (this.about.value.workbench) void this.runs.resume().catch(() => {}); // then nothing is found again
    } catch {
      // an older server, or none: the page shows recordings all the same
    }
  }

  stop(): void {
    this.turn += 1;
    this.requests.abort();
    this.runs.stop();
    this.mirror.stop();
  }

  /** Open another recording; the view stays, and what of the selection the other one has. */
  async go(id: string, change: Partial<LinkedSelection> = {}): Promise<void> {
    const { view, place, head } = this.store.get();
    await this.show({ ...nothingSelected, view, place, head, ...change, recording: id });
  }

  /** Open a training run, in the view that is chosen where it shows runs. */
  async goToRun(id: string): Promise<void> {
    await this.show({ ...nothingSelected, view: this.store.get().view, run: id });
  }

  /** Open an atlas, at a head where one is named. */
  async goToAtlas(id: string, change: Partial<LinkedSelection> = {}): Promise<void> {
    await this.show({ ...nothingSelected, ...change, study: id });
  }

  /** The run that is open is gone: the list shows the others. */
  leaveRun(): void {
    const next = this.recordings.peek()[0];
    if (next) void this.goToEntry(next.id).then(() => this.chooseView("runs"));
  }

  /** Open a recording of the list: one that ships opens where it shows its point. */
  async goToEntry(id: string): Promise<void> {
    const preset = this.presetOf(id);
    if (preset) await this.goToPreset(preset);
    else await this.go(id);
  }

  private presetOf(recording: string): Preset | null {
    return this.presets.peek().find((preset) => preset.recording === recording) ?? null;
  }

  /** Where a recording opens by itself; an address that says more than nothing goes first. */
  private openingOf(entry: RecordingEntry, wish: Selection): Partial<LinkedSelection> {
    if (!entry.selection || wish.view !== nothingSelected.view) return {};
    return readSelection(new URLSearchParams(entry.selection).toString());
  }

  async goToPreset(preset: Preset): Promise<void> {
    this.preset.value = preset;
    if (preset.recording) await this.go(preset.recording, pickSelection(preset));
    else if (this.server) this.runs.startPreset(preset);
  }

  chooseView(name: string): void {
    this.chosenIn = this.turn;
    this.store.set({ view: name });
    this.views.load(name)?.catch((error: unknown) => this.complain(error, () => this.chooseView(name)));
  }

  /** Zoom in (+1), out (-1) or show all (0): with the view's own camera, or all of it is magnified. */
  zoom(direction: -1 | 0 | 1): void {
    const mounted = this.mounted.peek();
    if (mounted?.zoom === undefined || direction === 0) this.magnify?.(direction);
    mounted?.zoom?.(direction);
  }

  async chooseLanguage(language: Language): Promise<void> {
    try {
      const [catalogue] = await Promise.all([this.fetchMessages(language), learn(language)]);
      this.catalogue.value = catalogue;
    } catch (error) {
      this.complain(error, () => void this.chooseLanguage(language));
      return;
    }
    this.language.value = language;
    this.remember.set("language", language);
  }

  /** In English where the host does not have the language; empty where it has no messages. */
  private async fetchMessages(language: Language): Promise<Catalogue> {
    const ask = async (wanted: Language): Promise<Catalogue> => (await this.source.messages?.(wanted)) ?? {};
    const catalogue = await ask(language).catch(() => ask("en").catch(() => ({})));
    keepCatalogue(language, catalogue);
    return catalogue;
  }

  chooseTheme(theme: Theme): void {
    this.theme.value = theme;
    this.remember.set("theme", theme);
  }

  chooseShortcuts(on: boolean): void {
    this.shortcuts.value = on;
    this.remember.set("shortcuts", on ? "on" : "off");
  }

  /** A text of the server in the page's language. */
  text(said: Text): string {
    return formatText(said, this.language.value, this.catalogue.value);
  }

  /** What went wrong, in a sentence of the page's language. */
  explain(error: unknown): string {
    return this.text(errorText(error));
  }

  announce(sentence: string): void {
    this.announcement.value = "";
    queueMicrotask(() => {
      this.announcement.value = sentence;
    });
  }

  /** Tell everybody, for a moment. */
  say(sentence: string): void {
    this.message.value = sentence;
    this.announce(sentence);
  }

  /** A failure as a sentence with a way out. */
  complain(error: unknown, again: (() => void) | null = null): void {
    if (isAbort(error)) return;
    this.trouble.value = { error, again };
    this.announceFailure(error);
  }

  /** Announce an error to screen readers; a recording that no longer exists leaves the list, a session the header. */
  announceFailure(error: unknown): void {
    this.announce(this.explain(error));
    if (error instanceof Refusal && error.code === "not_signed_in") void this.refreshAccount();
    if (error instanceof Refusal && error.code === "no_recording")
      void this.refreshRecordings().catch(() => {});
  }

  /** The server answers again: what failed meanwhile is tried once more. */
  reconnected(): void {
    this.connected.value = true;
    this.say(this.words.peek().back);
    const again = this.trouble.peek()?.again;
    this.trouble.value = null;
    if (again) again();
    else void this.refreshRecordings().catch(() => {});
  }

  /** For a button that goes away when it is used: the focus stays in the page. */
  focusTabs(): void {
    this.root.querySelector<HTMLElement>('.pictures [role=tab][aria-selected="true"]')?.focus();
  }

  link(): string | null {
    return this.mirror.link(this.account.peek()?.users);
  }

  /** Back to where the example or link began, in the view that is shown. */
  reset(): void {
    this.store.set(this.began);
  }

  /** Remember where to go back to; say what a link names that is not there. */
  private begin(link: string): void {
    const now = this.store.get();
    const { place, head, query, key, step, options } = now;
    this.began = { place, head, query, key, step, options };
    const open = this.open.peek();
    const wrong = open && link ? findCorrections(link, now, open.description.maps.length) : [];
    if (wrong.length === 0) return;
    this.complain(new Refusal((language) => words(language).corrected(wrong.join(", ")), "corrected", 0));
  }

  /** Let others see a recording or a training run, or not any more; whether it is so. */
  async share(kind: "recordings" | "runs", id: string, visibility: Visibility): Promise<boolean> {
    try {
      await this.server?.share?.(kind, id, visibility);
      await (kind === "runs" ? this.refreshTrainingRuns() : this.refreshRecordings());
      return true;
    } catch (error) {
      this.complain(error);
      return false;
    }
  }

  /** Whether whoever is signed in may change what somebody owns; without users everybody may. */
  mayChange(owner: string | null | undefined): boolean {
    const session = this.account.value;
    if (!session?.users) return true;
    return session.role === "admin" || (session.role === "runner" && owner === session.name);
  }

  /** Whether they may upload. */
  mayUpload(): boolean {
    const session = this.account.value;
    return !session?.users || session.role === "runner" || session.role === "admin";
  }

  /** Who is signed in, and what they use by now. */
  async refreshAccount(): Promise<void> {
    try {
      this.account.value = (await this.server?.session?.()) ?? null;
    } catch {
      // an older server
    }
  }

  /** End the session; the page that comes is the one to sign in on. */
  async signOut(): Promise<void> {
    try {
      await this.server?.signOut?.();
      location.assign(location.pathname);
    } catch (error) {
      this.complain(error);
    }
  }

  async refreshRecordings(): Promise<void> {
    this.recordings.value = await this.source.recordings();
  }

  /** A host without training runs has none to choose. */
  async refreshTrainingRuns(): Promise<void> {
    this.trainingRuns.value = (await this.source.runs?.list(undefined, LISTED_RUNS).catch(() => [])) ?? [];
  }

  /** A host without atlases has none to choose. */
  async refreshAtlases(): Promise<void> {
    this.atlases.value = (await this.source.atlases?.list().catch(() => [])) ?? [];
  }

  /** A name typed or reached by the back button. */
  private async follow(wish: LinkedSelection): Promise<void> {
    const link = this.place.read();
    if (
      (wish.recording !== "" || wish.run !== "" || wish.study !== "") &&
      !isNamed(this.subject.peek(), wish)
    )
      return this.show(wish, true, link);
    const view = this.viewOf(wish);
    try {
      await this.views.load(view);
      this.store.set({ ...wish, view });
      this.begin(link);
    } catch (error) {
      this.complain(error, () => void this.follow(wish));
    }
  }

  /** The view that a wish names, or the first on such a subject. */
  private viewOf(wish: Selection): string {
    const { titles } = this.views;
    const kind = wish.run !== "" ? "runs" : wish.study !== "" ? "study" : "recording";
    const named = titles.find((each) => each.name === wish.view);
    return (named ?? titles.find((each) => each.needs === kind) ?? titles[0])?.name ?? "";
  }

  /** That view, or the first that can show the subject; where nobody chose one, and not only a part of it. */
  private async fittingView(subject: Subject, wanted: string, chosen: boolean): Promise<string> {
    for (const name of [wanted, ...this.views.on(subject).map((each) => each.name)]) {
      const view = await this.views.load(name)?.catch(() => null); // another view may be fetched and fit
      const fits = view && subjectFor(view, subject) && fitsIn(view, subject) === true;
      if (fits && (chosen || !view.sparse?.(subject))) return name;
    }
    await this.views.load(wanted); // it says why it does not fit, or why it cannot be fetched
    return wanted;
  }

  /** Open what a wish names. Without the second recording the first one is shown alone. */
  private async openSubject(wish: LinkedSelection, signal: AbortSignal): Promise<Subject> {
    if (wish.run !== "") {
      const { runs } = this.source;
      if (!runs) throw new Refusal((language) => words(language).notInFile, "not_in_file", 404);
      return {
        kind: "runs",
        runs: await Promise.all(wish.run.split(",").map((id) => runs.open(id, signal))),
      };
    }
    if (wish.study !== "") {
      const { atlases } = this.source;
      if (!atlases) throw new Refusal((language) => words(language).notInFile, "not_in_file", 404);
      return { kind: "study", study: await atlases.open(wish.study, signal) };
    }
    const [now, beside] = await Promise.all([
      this.source.open(wish.recording, signal),
      wish.beside === ""
        ? undefined
        : this.source.open(wish.beside, signal).catch((error: unknown) => this.complain(error)),
    ]);
    return { kind: "recording", now, beside: beside ?? undefined };
  }

  /**
   * Open the recording of a wish and select the rest of it. A view that a link names is kept even where it cannot show
   * the recording: it says why in its place.
   */
  private async show(wish: LinkedSelection, linked = false, link = ""): Promise<void> {
    const turn = ++this.turn;
    const earlier = this.requests;
    this.requests = new AbortController();
    const { signal } = this.requests;
    const before = this.store.get().view;
    this.opening.value = true;
    try {
      this.trouble.value = null;
      this.refused.value = null;
      const wanted = this.viewOf(wish);
      const named = linked && wish.view === wanted;
      const code = this.views.load(wanted);
      const opened = this.openSubject(wish, signal);
      earlier.abort(); // now: what both want goes on
      const [subject] = await Promise.all([
        opened,
        named ? code : code?.catch(() => null), // without it, another view is chosen
        this.messages,
      ]);
      const fits = named ? wanted : await this.fittingView(subject, wanted, wish.view === wanted);
      if (turn !== this.turn) return;
      const { view: now } = this.store.get();
      const view = now === before && this.chosenIn !== turn ? fits : now; // a tab that was clicked meanwhile
      this.subject.value = subject;
      if (subject.kind === "recording") {
        this.runs.follow(subject.now);
        const beside = subject.beside ? wish.beside : "";
        this.store.set({ ...fitTo(subject.now.description)(wish, wish, wish), beside, view });
      } else this.store.set({ ...wish, view });
      this.mirror.complete();
      this.begin(link);
      if (this.preset.peek()?.recording !== wish.recording) this.preset.value = this.presetOf(wish.recording);
    } catch (error) {
      if (turn !== this.turn) return;
      const [first = "", second = ""] = wish.recording.split("~");
      if (second && error instanceof Refusal && error.code !== "no_recording") {
        await this.show({ ...wish, recording: first, beside: second }, linked, link);
        if (turn + 1 === this.turn) this.refused.value = error;
      } else this.complain(error, () => void this.show(wish, linked, link));
    } finally {
      if (turn === this.turn) this.opening.value = false;
    }
  }
}
