/**
 * What a view is: one folder in views/, without a framework, found by its name.
 *
 * In:   a stage: an element to draw in, the recording, the selection, words and colours.
 * Out:  pictures that follow the selection. A view never fetches by itself and never looks outside its element.
 */

import type {
  DecodeRequest,
  EditRequest,
  Job,
  JobRequest,
  Language,
  MetricDescription,
  Play,
  PlayStep,
  StepDescription,
} from "../api/types";
import type { Selection, SelectionStore } from "./selection";
import type { Playground, RecordingSource } from "./source";

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
  again(change: {
    edits?: readonly EditRequest[];
    decode?: DecodeRequest;
    multiplier?: number;
  }): JobRequest | null;
  /** Open another recording beside this one (before/after), without leaving the view. */
  open(id: string): Promise<RecordingSource>;
  /** Go to a recording: it becomes the open one. */
  go(id: string): void;
  /** Resolves when no run goes on or waits, whoever asked for it; early where the signal is aborted. */
  whenFree?(signal: AbortSignal): Promise<void>;
  /** Train a topic of the playground, and tell of every step. Aborting stops it. */
  play?(
    topic: string,
    settings: Readonly<Record<string, string>>,
    heard: (step: PlayStep) => void,
    signal: AbortSignal,
  ): Promise<Play>;
}

/** What a view leaves to its next mounting on the same recording. When another one is opened, it is stopped. */
export interface Kept {
  stop?(): void;
}

export interface Stage {
  readonly element: HTMLElement; // empty; its size is the view's to use, and may change (call `resize`)
  readonly source: RecordingSource;
  readonly metrics: readonly MetricDescription[];
  readonly selection: SelectionStore;
  readonly language: Language;
  readonly theme: Theme;
  readonly reducedMotion: boolean;
  readonly rerunner: Rerunner | null;
  readonly playground?: Playground | undefined;
  readonly kept?: Kept | undefined; // what this view has left behind
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
  /** The view as a standalone SVG (with legend and caption): what "save image" writes; PNG is made from it. */
  picture(): Promise<string>;
  /** The data table behind the chart. */
  table(): Promise<TableData>;
  unmount(): void;
  /**
   * Before `unmount`: what runs, and what no link states, for the next mounting. `anew`: it follows at once, in another
   * language or theme, and nothing may be lost; otherwise another tab is looked at.
   */
  keep?(anew: boolean): Kept | null;
  /** Zoom in (+1), out (-1) or reset (0), where the view can. */
  zoom?(direction: -1 | 0 | 1): void;
}

export interface View {
  readonly name: string; // in URLs: "heatmap"
  readonly order: number; // among the tabs
  readonly title: Readonly<Record<Language, string>>;
  readonly about: Readonly<Record<Language, string>>; // one sentence: what one sees here
  /** true, or why this recording cannot be shown so. */
  fits(source: RecordingSource): true | Readonly<Record<Language, string>>;
  /** Draw. May be asynchronous inside; must return at once. */
  mount(stage: Stage): Mounted;
}
