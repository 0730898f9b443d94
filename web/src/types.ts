/** What the API speaks: JSON as the server sends it. One place for every shape that crosses. */

export type Language = "en" | "zh";
export type Phrase = Readonly<Record<Language, string>>;
export type SideName = "source" | "target";
export type Kind = "self" | "cross";
export type Stack = string; // "encoder" or "decoder"

/** One recording in a list. */
export interface RecordingEntry {
  readonly id: string;
  readonly title: Phrase;
  readonly model: string;
  readonly shape: "encoder" | "decoder" | "encoder-decoder";
  readonly source_excerpt: string;
  readonly source_tokens: number;
  readonly target_tokens: number | null;
  readonly origin: "shipped" | "file" | "made";
  readonly note: Phrase | null;
  readonly selection?: Readonly<Record<string, string>> | null; // where to open it, as in the address
}

export interface SideDescription {
  readonly side: SideName;
  readonly count: number;
  readonly text: string | null; // cut at 20,000 characters
}

/** One attention map: a layer of a stack, self or cross, whole or of one generation step. */
export interface MapDescription {
  readonly index: number; // its number in URLs
  readonly name: string;
  readonly stack: Stack;
  readonly layer: number;
  readonly kind: Kind;
  readonly step: number | null;
  readonly heads: number;
  readonly queries: number;
  readonly keys: number;
  readonly query_side: SideName;
  readonly key_side: SideName;
  readonly query_start: number; // the axis shows tokens query_start … of its side (generation steps see parts)
  readonly key_start: number;
  readonly causal: boolean;
  readonly has_weights: boolean;
  readonly has_scores: boolean;
  readonly has_queries: boolean;
  readonly has_keys: boolean;
  readonly has_values: boolean;
  readonly dense: boolean; // false: weights are computed from queries and keys, tile by tile
  readonly levels: number; // of tiles
  readonly key_heads: number | null; // fewer than heads with grouped queries
  readonly head_width: number | null;
  readonly scale: number | null; // the attention-score multiplier
  readonly relaxed: string | null; // why rows need not sum to one
}

export interface HiddenDescription {
  readonly stack: Stack;
  readonly side: SideName;
  readonly layers: number; // planes: embeddings and one after each layer
  readonly tokens: number;
  readonly width: number;
}

export interface EvidenceDescription {
  readonly model: string;
  readonly model_hash: string;
  readonly kernel: string;
  readonly dtype: string;
  readonly exact: boolean;
  readonly largest_error: number | null;
  readonly reference: string | null;
  readonly edits: readonly string[];
  readonly versions: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
  readonly line: string; // one line for a person
}

export interface Choice {
  readonly token: number;
  readonly text: string;
  readonly log_probability: number;
}

export interface StepDescription extends Choice {
  readonly index: number;
  readonly alternatives: readonly Choice[];
  readonly beam: number;
  readonly parent: number | null;
  readonly score: number | null;
}

export interface GenerationDescription {
  readonly method: string;
  readonly text: string;
  readonly steps: readonly StepDescription[];
  readonly nodes: readonly StepDescription[]; // beam search: every hypothesis on the way
}

export interface OutputDescription {
  readonly stack: Stack;
  readonly kind: "tokens" | "classes";
  readonly positions: readonly (readonly Choice[])[]; // left out (empty) above 2,048 positions
}

/** Everything about a recording but its arrays and its tokens. */
export interface Description {
  readonly id: string;
  readonly title: Phrase;
  readonly model: string;
  readonly shape: "encoder" | "decoder" | "encoder-decoder";
  readonly evidence: EvidenceDescription;
  readonly source: SideDescription;
  readonly target: SideDescription | null;
  readonly maps: readonly MapDescription[];
  readonly hidden: readonly HiddenDescription[];
  readonly output: OutputDescription | null;
  readonly generation: GenerationDescription | null;
  readonly request?: JobRequest | null; // what made it, where that is known: it can be run again with a change
}

/** Tokens start … start + texts.length of one side. `shown` makes blanks, line ends and bytes visible. */
export interface TokenSlice {
  readonly side: SideName;
  readonly start: number;
  readonly texts: readonly string[];
  readonly shown: readonly string[];
  readonly ids: readonly number[];
  readonly special: readonly boolean[];
  readonly words: readonly number[] | null;
  readonly offsets: readonly (readonly [number, number])[] | null;
  readonly text?: string | null; // what they were read from
}

export interface MetricParameter {
  readonly name: string;
  readonly label: Phrase;
  readonly kind: "number" | "integer" | "choice" | "boolean" | "text";
  readonly default: number | string | boolean | null;
  readonly minimum: number | null;
  readonly maximum: number | null;
  readonly choices: readonly string[] | null;
}

export interface MetricDescription {
  readonly name: string;
  readonly family: string;
  readonly label: Phrase;
  readonly caption: Phrase;
  readonly lower: Phrase | null;
  readonly higher: Phrase | null;
  readonly unit: string;
  readonly range: readonly [number | null, number | null];
  readonly over: string;
  readonly levels: readonly string[];
  readonly needs: "statistics" | "weights";
  readonly parameters: readonly MetricParameter[];
  readonly panel: boolean; // one of the interpretability panel's
}

export interface ScorePart {
  readonly stack: Stack | null;
  readonly kind: Kind | null;
  readonly layer: number | null;
  readonly map: number | null; // index of its map, where it has one
  readonly values: readonly (number | null)[]; // null: undefined
  readonly why: readonly (string | null)[]; // why it is undefined
}

export interface ScoreDescription {
  readonly metric: string;
  readonly over: string;
  readonly unit: string;
  readonly range: readonly [number | null, number | null];
  readonly parts: readonly ScorePart[];
}

export interface Distribution {
  readonly edges: readonly number[];
  readonly counts: readonly number[];
  readonly count: number;
  readonly minimum: number | null;
  readonly maximum: number | null;
  readonly mean: number | null;
  readonly deviation: number | null;
  readonly left_out: number; // masked or not finite
}

export interface ModelDescription {
  readonly name: string;
  readonly label: string;
  readonly family: string;
  readonly shape: "encoder" | "decoder" | "encoder-decoder";
  readonly tasks: readonly string[];
  readonly layers: number | null;
  readonly heads: number | null;
  readonly width: number | null;
  readonly vocabulary: number | null;
  readonly languages: readonly string[];
  readonly max_tokens: number | null;
  readonly parameters: number | null;
  readonly origin: "zoo" | "folder" | "hub";
  readonly note: Phrase | null;
}

export interface EditRequest {
  readonly kind: "ablate" | "cut" | "scale" | "layers";
  readonly stack?: Stack;
  readonly attention?: Kind;
  readonly layer?: number | null;
  readonly head?: number | null;
  readonly query?: number;
  readonly key?: number;
  readonly how?: "zero" | "mean";
  readonly factor?: number;
  readonly count?: number;
}

export interface DecodeRequest {
  readonly method: "greedy" | "sampling" | "beam";
  readonly max_new_tokens?: number;
  readonly beams?: number;
  readonly temperature?: number;
  readonly top_k?: number;
  readonly top_p?: number;
  readonly seed?: number;
}

export interface JobRequest {
  readonly kind: "record" | "generate";
  readonly model: string;
  readonly task?: string;
  readonly sequence: "text" | "random" | "task";
  readonly text?: string;
  readonly second_text?: string | null;
  readonly target?: string | null;
  readonly length?: number;
  readonly seed?: number;
  readonly source_language?: string | null;
  readonly target_language?: string | null;
  readonly layers?: number;
  readonly multiplier?: number;
  readonly want?: readonly string[];
  readonly edits?: readonly EditRequest[];
  readonly decode?: DecodeRequest;
}

export type JobStage = "queued" | "loading" | "tokenising" | "running" | "statistics" | "saving";

export interface Job {
  readonly id: string;
  readonly kind: "record" | "generate";
  readonly state: "queued" | "running" | "done" | "failed" | "cancelled";
  readonly stage: JobStage;
  readonly share: number | null;
  readonly detail: string | null;
  readonly recording: string | null;
  readonly sentence: string | null;
  readonly code?: string | null;
  readonly model: string;
}

export interface Preset {
  readonly id: string;
  readonly title: Phrase;
  readonly point: Phrase; // what to look at
  readonly model: string;
  readonly task: string;
  readonly text: string;
  readonly second_text?: string | null;
  readonly target?: string | null;
  readonly source_language?: string | null;
  readonly target_language?: string | null;
  readonly selection?: Readonly<Record<string, string>> | null; // as in the URL
  readonly recording?: string | null; // a shipped recording that shows it without a model
}

export interface About {
  readonly version: string;
  readonly offline: boolean;
  readonly workbench: boolean;
  readonly why_no_workbench: string | null;
  readonly limits: Readonly<Record<string, number>>;
}

export type WalkAxis = "head" | "source" | "target" | "feature" | "vocabulary" | "class" | "rank";
export type WalkPart = "embedding" | "self" | "cross" | "feed_forward" | "final" | "output" | "states";

/** One step of the walk: an operation on arrays of the trace. */
export interface WalkStep {
  readonly id: string; // "encoder.0.self.products"
  readonly chapter: string;
  readonly stack: Stack | null;
  readonly layer: number | null;
  readonly kind: WalkPart;
  readonly operation: string;
  readonly inputs: readonly string[];
  readonly output: string;
  readonly axes: readonly WalkAxis[]; // of the output
  readonly parameters: {
    readonly weight?: string | null;
    readonly bias?: string | null;
    readonly columns?: readonly [number, number] | null; // outputs of a fused projection, before a head is chosen
    readonly transposed?: boolean; // kept as (output, input)
  };
  readonly numbers: Readonly<Record<string, number>>;
  readonly words: Readonly<Record<string, string>>;
  readonly shape: {
    readonly inputs: readonly (readonly number[] | null)[];
    readonly output: readonly number[] | null; // null: not kept
  };
  readonly arithmetic: boolean; // whether each number can be explained
  readonly missing: Phrase | null; // why there is nothing to see
}

export interface WalkChapter {
  readonly id: string;
  readonly kind: WalkPart;
  readonly stack: Stack | null;
  readonly layer: number | null;
  readonly steps: readonly WalkStep[];
}

/** A box of the diagram. */
export interface WalkBlock {
  readonly id: string;
  readonly kind:
    | "tokens"
    | "embedding"
    | "attention"
    | "cross"
    | "feed_forward"
    | "norm"
    | "add"
    | "output"
    | "states";
  readonly stack: Stack | null;
  readonly layer: number | null;
  readonly chapter: string;
  readonly step: string;
  readonly causal: boolean;
}

export interface WalkArrow {
  readonly start: string;
  readonly end: string;
  readonly kind: "stream" | "residual" | "memory";
}

/** The computation of a recording, in its order. */
export interface WalkPlan {
  readonly model: string;
  readonly shape: Description["shape"];
  readonly ours: boolean;
  readonly recurrent: boolean;
  readonly norm_position: "pre" | "post" | null;
  readonly architecture: Readonly<Record<string, string | number | boolean | null>> | null;
  readonly traced: boolean;
  readonly parameters: boolean;
  readonly stacks: readonly {
    readonly stack: Stack;
    readonly side: SideName;
    readonly tokens: number;
    readonly layers: number;
    readonly heads: number | null;
    readonly width: number | null;
    readonly causal: boolean;
    readonly shared: boolean;
  }[];
  readonly chapters: readonly WalkChapter[];
  readonly diagram: { readonly blocks: readonly WalkBlock[]; readonly arrows: readonly WalkArrow[] };
  readonly notes: readonly Phrase[]; // what this recording cannot show
}

export interface CellTerm {
  readonly index: number;
  readonly label: string;
  readonly left: number | null;
  readonly right: number | null;
  readonly product: number | null;
  readonly large: boolean;
}

/** How one number of a step came about. */
export interface CellArithmetic {
  readonly step: string;
  readonly operation: string;
  readonly head: number | null;
  readonly row: number;
  readonly column: number;
  readonly terms: readonly CellTerm[];
  readonly left_out: number; // terms too many to send
  readonly rest: number; // what those add up to
  readonly bias: number | null;
  readonly numbers: Readonly<Record<string, number | null>>;
  readonly sum: number | null;
  readonly value: number | null; // as recorded; null: minus infinity
  readonly shown: number | null; // computed again in double precision
  readonly difference: number | null;
  readonly reads: readonly {
    readonly name: string;
    readonly head: number | null;
    readonly row: number | null;
    readonly column: number | null;
  }[];
}

export type PlayValue = boolean | number | string;

/** One thing to change in a topic of the playground. The first of a topic is its main one. */
export interface PlayParameter {
  readonly name: string;
  readonly label: Phrase;
  readonly kind: "choice" | "integer" | "number" | "flag" | "text";
  readonly default: PlayValue;
  readonly minimum: number | null;
  readonly maximum: number | null;
  readonly step: number | null;
  readonly choices: readonly { readonly value: string; readonly label: Phrase }[];
  readonly longest: number | null; // characters of a text
  readonly needs: Readonly<Record<string, readonly string[]>>; // there only while others have one of these values
}

export interface PlayTopic {
  readonly name: string;
  readonly title: Phrase;
  readonly question: Phrase;
  readonly change: Phrase;
  readonly see: Phrase;
  readonly why: Phrase;
  readonly parameters: readonly PlayParameter[];
  readonly streams: boolean; // can be trained live
  readonly keeps: boolean; // false: measured where and when it is asked
  readonly formula: string | null;
}

interface PlayHead {
  readonly id: string;
  readonly title: Phrase;
  readonly note: Phrase | null;
}

export interface PlayAxis {
  readonly title: Phrase | null;
  readonly labels: readonly string[];
}

export interface PlayMatrix extends PlayHead {
  readonly kind: "matrix";
  readonly rows: PlayAxis;
  readonly columns: PlayAxis;
  readonly values: readonly (readonly (number | null)[])[]; // null: masked, padding or not finite
  readonly scale: "sequential" | "diverging" | "flags";
  readonly low: number;
  readonly high: number;
  readonly mark: readonly (readonly [row: number, column: number])[];
}

export interface PlaySeries {
  readonly name: Phrase;
  readonly values: readonly (number | null)[];
  readonly dashed: boolean;
}

export interface PlayBars extends PlayHead {
  readonly kind: "bars";
  readonly labels: readonly string[];
  readonly label_title: Phrase | null;
  readonly value_title: Phrase;
  readonly series: readonly PlaySeries[];
  readonly high: number | null; // the full length
}

export interface PlayLines extends PlayHead {
  readonly kind: "lines";
  readonly x: readonly number[];
  readonly x_title: Phrase;
  readonly y_title: Phrase;
  readonly x_scale: "linear" | "log";
  readonly y_scale: "linear" | "log";
  readonly series: readonly PlaySeries[];
  readonly mark: number | null;
}

/** Arrows from the origin, in a square plane from −reach to reach. */
export interface PlayPoints extends PlayHead {
  readonly kind: "points";
  readonly arrows: readonly {
    readonly label: string;
    readonly x: number;
    readonly y: number;
    readonly group: number;
  }[];
  readonly groups: readonly Phrase[];
  readonly reach: number;
}

export interface PlayTable extends PlayHead {
  readonly kind: "table";
  readonly columns: readonly Phrase[];
  readonly rows: readonly (readonly (Phrase | string | number | null)[])[];
  readonly marked: readonly number[];
}

export interface PlayNumbers extends PlayHead {
  readonly kind: "numbers";
  readonly items: readonly {
    readonly name: Phrase;
    readonly value: number | null;
    readonly unit: string | null;
    readonly good: boolean | null;
  }[];
}

export type PlayFigure = PlayMatrix | PlayBars | PlayLines | PlayPoints | PlayTable | PlayNumbers;

/** What a topic shows with certain settings. */
export interface Play {
  readonly topic: string;
  readonly parameters: Readonly<Record<string, PlayValue>>;
  readonly found: Phrase;
  readonly figures: readonly PlayFigure[];
  readonly model: string | null;
  readonly seconds: number | null;
}

/** Where a live training stands. */
export interface PlayStep {
  readonly step: number;
  readonly loss: number;
  readonly rows: readonly (readonly number[])[]; // the output after this step
}
