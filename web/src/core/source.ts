/**
 * Where data comes from: the same questions to a server, a notebook or data inside the file.
 *
 * In:   questions of the views.
 * Out:  answers as JSON (types.ts) and typed arrays (frames.ts). What is asked twice is fetched once: a source caches.
 */

import type { Frame } from "../api/frames";
import type {
  AtlasDescription,
  AtlasEntry,
  AtlasPairs,
  BranchEntry,
  CellArithmetic,
  Description,
  Distribution,
  DistributionOf,
  Language,
  MetricDescription,
  PlayResult,
  PlayTopic,
  RecordingEntry,
  RowSide,
  RunDescription,
  RunEntry,
  RunSeries,
  SampledStep,
  ScoreDescription,
  SearchDescription,
  SearchEntry,
  SideName,
  TokenSlice,
  WalkPlan,
} from "../api/types";
import { words } from "../i18n/hosts";
import { type Catalogue, formatText, type Text } from "./messages";
import type { Place } from "./place";

export type Range = readonly [start: number, stop: number];
export type Precision = "uint8" | "float16" | "float32";

/**
 * All that can be asked about one recording. Every promise may be rejected with a `Refusal`; with an AbortError where
 * the asker's own signal was aborted.
 */
export interface RecordingSource {
  readonly description: Description;
  /** The same source, whose requests all end with a signal. */
  within(signal: AbortSignal): RecordingSource;
  tokens(side: RowSide, range?: Range, signal?: AbortSignal): Promise<TokenSlice>;
  /** The picture (PNG) or the sound (WAV) that a side was cut from. */
  media(what: "picture" | "sound", side: SideName, signal?: AbortSignal): Promise<ArrayBuffer>;
  /** The tree of branches that a generated text belongs to, where the host keeps one. */
  branches?(): Promise<readonly BranchEntry[]>;
  thumbnails(how: "mean" | "max", signal?: AbortSignal): Promise<Frame>;
  weights(
    map: Place,
    where: { head: number | "mean" | "all"; queries?: Range; keys?: Range },
    as: Precision,
    signal?: AbortSignal,
  ): Promise<Frame>;
  scores(
    map: Place,
    where: { head: number; queries?: Range; keys?: Range },
    signal?: AbortSignal,
  ): Promise<Frame>;
  average(stack: string, kind: "self" | "cross", signal?: AbortSignal): Promise<Frame>;
  tile(
    map: Place,
    head: number,
    level: number,
    row: number,
    column: number,
    how: "mean" | "max",
    as: Precision,
    signal?: AbortSignal,
  ): Promise<Frame>;
  statistics(map: Place, signal?: AbortSignal): Promise<Frame>;
  vectors(
    map: Place,
    what: "queries" | "keys" | "values",
    head: number,
    signal?: AbortSignal,
  ): Promise<Frame>;
  hidden(
    stack: string,
    layer: number,
    tokens?: Range,
    as?: "float16" | "float32",
    signal?: AbortSignal,
  ): Promise<Frame>;
  activations(
    stack: string,
    by: "norm" | "change" | "neuron",
    neuron?: number,
    signal?: AbortSignal,
  ): Promise<Frame>;
  distribution(
    of: DistributionOf,
    where: { stack?: string; layer?: number; map?: Place; head?: number; bins?: number },
    signal?: AbortSignal,
  ): Promise<Distribution>;
  score(
    metric: string,
    over: "head" | "layer" | "model" | "query",
    parameters?: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<ScoreDescription>;
  /** The computation step by step. */
  walk(signal?: AbortSignal): Promise<WalkPlan>;
  /** An array of the trace (or a parameter): "values" (row, column), of one head where it has heads. */
  trace(
    name: string,
    where?: { rows?: Range; columns?: Range; head?: number },
    signal?: AbortSignal,
  ): Promise<Frame>;
  /** How one number of a step came about. */
  cell(
    step: string,
    where: { row: number; column: number; head?: number },
    signal?: AbortSignal,
  ): Promise<CellArithmetic>;
}

/** Curves by name, or statistics of heads by the address of their map. */
export type SeriesOf = Readonly<Record<string, RunSeries>>;

/** One training run. */
export interface RunSource {
  readonly run: RunDescription; // all but its numbers, as far as it was written
  /** The same run, whose requests and followers all end with a signal. */
  within(signal: AbortSignal): RunSource;
  /** Curves in a range of steps, both ends included (null: all steps); exact where no more than so many points are there. */
  series(
    names: readonly string[],
    span: Range | null,
    points: number,
    signal?: AbortSignal,
  ): Promise<SeriesOf>;
  /** A statistic of the heads of every map, likewise. */
  heads(statistic: string, span: Range | null, points: number, signal?: AbortSignal): Promise<SeriesOf>;
  /** What the network wrote or guessed at each evaluation. */
  samples?(signal?: AbortSignal): Promise<readonly SampledStep[]>;
  /** Told of each change while the run goes on, until the function that is given back is called. */
  follow(changed: (run: RunDescription) => void, failed?: (error: unknown) => void): () => void;
}

/** Training runs of one folder. */
export interface RunList {
  /** The one that was written to last first; of many, the first `limit`. */
  list(signal?: AbortSignal, limit?: number): Promise<readonly RunEntry[]>;
  open(id: string, signal?: AbortSignal): Promise<RunSource>;
  /** Searches for the best configuration, where the host knows of any. */
  searches?(signal?: AbortSignal): Promise<readonly SearchEntry[]>;
  search?(id: string, signal?: AbortSignal): Promise<SearchDescription>;
}

/** A model over many texts: what each of its heads does. */
export interface StudySource {
  readonly atlas: AtlasDescription;
  /** The same atlas, whose requests all end with a signal. */
  within(signal: AbortSignal): StudySource;
  /** The recording of an example text; null where the atlas has none. */
  example(number: number): Promise<RecordingSource | null>;
  /** Others to compare with. */
  others(): Promise<readonly AtlasEntry[]>;
  /** Another atlas, and the heads of both in pairs. */
  beside(id: string): Promise<{ readonly atlas: AtlasDescription; readonly pairs: AtlasPairs }>;
}

/** Atlases of one folder. */
export interface AtlasList {
  list(signal?: AbortSignal): Promise<readonly AtlasEntry[]>;
  open(id: string, signal?: AbortSignal): Promise<StudySource>;
}

/** Small pages with one thing to change, computed where the models are. */
export interface Playground {
  topics(signal?: AbortSignal): Promise<readonly PlayTopic[]>;
  /**
   * Settings that are the topic's own are left out: they lie in files under its bare name. `anew`: not from memory,
   * since what is measured differs each time.
   */
  ask(
    topic: string,
    settings: Readonly<Record<string, string>>,
    signal?: AbortSignal,
    anew?: boolean,
  ): Promise<PlayResult>;
}

/** Part of a list, and how many the whole has. */
export interface RecordingPage {
  readonly entries: readonly RecordingEntry[];
  readonly total: number;
}

export interface Source {
  recordings(signal?: AbortSignal): Promise<readonly RecordingEntry[]>;
  /** Those with a text in their title, model or words: the first `count` of each origin; where the host keeps an index. */
  findRecordings?(search: string, count: number, signal?: AbortSignal): Promise<RecordingPage>;
  open(id: string, signal?: AbortSignal): Promise<RecordingSource>;
  metrics(signal?: AbortSignal): Promise<readonly MetricDescription[]>;
  /** The templates of messages in a language; empty where a host has none. */
  messages?(language: Language, signal?: AbortSignal): Promise<Catalogue>;
  readonly runs?: RunList;
  readonly atlases?: AtlasList;
  readonly playground?: Playground;
}

/** A refusal, with a sentence for a person. */
export class Refusal extends Error {
  constructor(
    readonly said: Text,
    readonly code: string, // for programs
    readonly status: number,
  ) {
    super(code);
    this.name = "Refusal";
  }

  text(language: Language): string {
    return formatText(this.said, language);
  }
}

/** What went wrong, for a person: what a refusal says, or that something unexpected happened. */
export function errorText(error: unknown): Text {
  if (error instanceof Refusal) return error.said;
  const details = error instanceof Error && error.message ? error.message : String(error);
  return (language) => words(language).unexpected(details);
}
