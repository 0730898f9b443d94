/** The playground: topics, what can be changed in them, and the figures that answer. */

import type { Phrase } from "./basics";

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

/** How far a whole number can go here, and what its values are called. */
export interface PlayRange {
  readonly maximum: number;
  readonly labels: readonly string[];
}

/** What a topic shows with certain settings. */
export interface Play {
  readonly topic: string;
  readonly parameters: Readonly<Record<string, PlayValue>>;
  readonly found: Phrase;
  readonly figures: readonly PlayFigure[];
  readonly ranges: Readonly<Record<string, PlayRange>>; // parameters that the text or the model limits
  readonly model: string | null;
  readonly seconds: number | null; // null: computed before, and shipped
}

/** Where a live training stands. */
export interface PlayStep {
  readonly step: number;
  readonly loss: number;
  readonly rows: readonly (readonly number[])[]; // the output after this step
}
