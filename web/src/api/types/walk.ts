/** The walk: the computation of a recording in its order, and how one number came about. */

import type { Phrase, SideName, Stack } from "./basics";
import type { Description } from "./recording";

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
    readonly mean?: string | null; // of batch norm
    readonly variance?: string | null;
    readonly key_weight?: string | null; // of additive similarity
    readonly vector?: string | null;
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
  readonly more?: boolean; // whether the same run could be recorded with more to show
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
