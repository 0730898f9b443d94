/** A recording as the API describes it: its sides, maps, states, outputs, evidence; its tokens. */

import type { Kind, Phrase, SideName, Stack } from "./basics";
import type { JobRequest } from "./work";

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
  readonly default?: boolean; // what a page without a selection of its own opens
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
  readonly zh?: Pick<EvidenceDescription, "kernel" | "reference" | "edits" | "notes" | "line">; // in Chinese
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
