/** What is measured on a recording: metrics, their scores, distributions. */

import type { Kind, Phrase, Stack } from "./basics";

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
  readonly zh?: Pick<ScorePart, "why"> | null; // the same in Chinese
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
