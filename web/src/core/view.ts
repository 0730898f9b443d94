/**
 * What a view is: one folder in views/, without a framework, found by its name.
 *
 * In:   a stage: an element to draw in, the subject (a recording, training runs …), the selection, language and theme.
 * Out:  pictures that follow the selection. A view never fetches by itself and never looks outside its element.
 */

import type {
  DecodeRequest,
  EditRequest,
  Job,
  JobRequest,
  Language,
  MetricDescription,
  PlayResult,
  PlayStep,
  Spoken,
  StepDescription,
} from "../api/types";
import type { Text } from "./messages";
import type { Schema } from "./options";
import type { Selection, SelectionStore } from "./selection";
import type { Playground, RecordingSource, RunList, RunSource, StudySource } from "./source";

export type Theme = "light" | "dark";

/** What needs the model again. Where there is none (offline file), `Stage.rerunner` is null and controls say why. */
export interface Rerunner {
  /** Run a request; `heard` is told of progress and of generation steps. Resolves to the new recording's id. */
  run(
    request: JobRequest,
    heard: (event: { job: Job } | { step: StepDescription }) => void,
    signal: AbortSignal,
  ): Promise<string>;
  /** The request that made the open recording, if it was made here; edits and decode can be put on top of it. */
  again(change: { edits?: readonly EditRequest[]; decode?: DecodeRequest }): JobRequest | null;
  /** Open another recording beside this one (before/after), without leaving the view. */
  open(id: string): Promise<RecordingSource>;
  /** Go to a recording: it becomes the open one; `change` says where in it. */
  go(id: string, change?: Partial<Selection>): void;
  /** Give a branch a name. */
  rename?(id: string, name: string): Promise<void>;
  /** Resolves when no run of any window goes on or waits; early where the signal is aborted. */
  whenFree?(signal: AbortSignal): Promise<void>;
  /**
   * Measure causes as a job: what each head does to an outcome, what a patch restores. `heard` is told of numbers as
   * they come. Resolves to the id of a recording with the effect of every edge; "" where there is none.
   */
  measure?<Step>(
    what: "effects" | "patching",
    request: object,
    heard: (event: { job: Job } | { step: Step }) => void,
    signal: AbortSignal,
  ): Promise<string>;
  /** Train a topic of the playground, and tell of every step. Aborting stops it. */
  play?(
    topic: string,
    settings: Readonly<Record<string, string>>,
    heard: (step: PlayStep) => void,
    signal: AbortSignal,
  ): Promise<PlayResult>;
}

/** Work that goes on while another view is shown; mounted again, the view takes it over. It stops with the recording. */
export interface KeptWork {
  stop?(): void;
}

/** What the page has open: what views are drawn from. */
export type Subject =
  | {
      readonly kind: "recording";
      readonly now: RecordingSource;
      readonly beside?: RecordingSource | undefined;
    }
  | { readonly kind: "runs"; readonly runs: readonly RunSource[] } // training runs, followed while they go on
  | { readonly kind: "study"; readonly study: StudySource } // a model over many texts: an atlas
  | { readonly kind: "none" };

export type SubjectKind = Subject["kind"];
export type SubjectOf<K extends SubjectKind> = Extract<Subject, { readonly kind: K }>;

/** What a view asks its questions, by what it needs. */
export interface SourceOf {
  readonly recording: RecordingSource;
  readonly runs: readonly RunSource[];
  readonly study: StudySource;
  readonly none: null;
}

/**
 * Where a view is mounted. `language` and `theme` are those of the moment they are read: in `restyle` they are already
 * the new ones.
 */
export interface Stage<K extends SubjectKind = "recording"> {
  readonly element: HTMLElement; // empty; its size is the view's to use, and may change (call `resize`)
  readonly subject: SubjectOf<K>;
  readonly source: SourceOf[K]; // of the subject; a recording's first one
  readonly metrics: readonly MetricDescription[];
  readonly selection: SelectionStore;
  readonly language: Language;
  readonly theme: Theme;
  readonly reducedMotion: boolean;
  readonly page?: Document | undefined; // where all of it is ours: its keys are heard when nothing has the focus
  readonly signal: AbortSignal; // aborted when the view is unmounted; requests through `source` end with it
  readonly rerunner: Rerunner | null;
  readonly playground?: Playground | undefined;
  readonly runs?: RunList | undefined; // training runs of the host, where it has any
  readonly kept?: KeptWork | undefined; // what this view has left behind
  /** A text of the server in the page's language. */
  text(said: Text): string;
  /** Say something to screen readers, politely. */
  announce(sentence: string): void;
  /** A promise of the view failed: show the sentence in the view's place with a way out. */
  fail(error: unknown): void;
}

/** The numbers behind a picture, for the data table and for copying. */
export interface TableData {
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number | null)[])[];
  readonly more?: number; // rows left out
}

export interface Mounted {
  /** The selection changed. */
  update(now: Selection, before: Selection): void;
  /** The element has a new size. */
  resize(): void;
  /** Another language or theme: draw again without losing anything. */
  restyle(language: Language, theme: Theme): void;
  /** The view as a standalone SVG (with legend and caption): what "save image" writes; PNG is made from it. */
  picture(): Promise<string>;
  /** The data table behind the chart. */
  table(): Promise<TableData>;
  unmount(): void;
  /** `stage.source` is now the same text at another step of training: draw it in place, what was drawn stays until then. */
  swap?(): void;
  /** Before `unmount`, when another tab is looked at: what goes on until this view is mounted again. */
  keep?(): KeptWork | null;
  /** Start or stop playing: where the view has a slider of time of its own (`transport` is false). */
  togglePlay?(): void;
  /** Whether the slider of time would change anything of what is shown now; it would, where nothing is said. */
  readonly moves?: boolean;
  /** Zoom in (+1), out (-1) or show all (0), while the view has a camera of its own. The shell magnifies the others. */
  readonly zoom?: ((direction: -1 | 0 | 1) => void) | undefined;
}

/**
 * A view on a kind of subject, with options `O` that it, the panel and the URL read alike.
 * The folder's `view.ts` exports it as `view`.
 */
export interface View<K extends SubjectKind = "recording", O extends object = object> {
  readonly name: string; // in URLs: "heatmap"
  readonly order: number; // among the tabs
  readonly title: Spoken;
  readonly about: Spoken; // one sentence: what one sees here
  readonly needs: K; // offered when such a subject is open; "none": always
  readonly panel: boolean; // whether the control panel is shown beside it
  readonly transport: boolean | "steps"; // whether the slider of time is shown below it; "steps": where there are any
  readonly controls?: "above"; // step, layer and head stand together above it, not in the panel and below
  readonly cutFrom?: "picture" | "sound"; // offered only on recordings whose tokens were cut from one
  readonly options: Schema<O>; // by their names without the view's: { scale } is "heatmap.scale" in the URL
  /** Its title where it shows another thing than usual: a decoder in the encoder's place. */
  named?(subject: SubjectOf<K>, selection: Selection): Spoken;
  /** true, or why this subject cannot be shown so. */
  fits(subject: SubjectOf<K>): true | Text;
  /** Whether most of it would be empty: then nothing opens in it that nobody has asked to see in it. */
  sparse?(subject: SubjectOf<K>): boolean;
  /** Draw. May be asynchronous inside; must return at once. */
  mount(stage: Stage<K>): Mounted;
}

/** A view on any kind of subject. */
export type AnyView = View<SubjectKind>;
