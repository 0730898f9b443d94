/** What the server can run: models, requests, jobs, presets, and what it says about itself. */

import type { Kind, Phrase, Stack } from "./basics";

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
  readonly decoder_layers?: number | null; // of encoder-decoders, whose `layers` are those of the encoder
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
  readonly listed?: boolean; // false: made on the way by a view, and in no list
}

export type JobStage = "queued" | "loading" | "tokenising" | "running" | "statistics" | "saving";

export interface Job {
  readonly id: string;
  readonly kind: "record" | "generate" | "play";
  readonly state: "queued" | "running" | "done" | "failed" | "cancelled";
  readonly stage: JobStage;
  readonly share: number | null;
  readonly detail: string | null;
  readonly recording: string | null;
  readonly sentence: string | null;
  readonly code?: string | null;
  readonly zh?: string | null; // the sentence in Chinese
  readonly model: string;
  readonly listed?: boolean; // false: what it makes is in no list
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
  readonly why_no_workbench: Phrase | null;
  readonly limits: Readonly<Record<string, number>>;
}
