/** What stands below the form of generation: the steps of a text, or a distribution. */

import type { Stage, TableData } from "../../core/view";
import type { Bar } from "../../marks/bars";
import type { words } from "./words";

export type Wording = ReturnType<typeof words>;

/** A drawing for a saved picture, under its title. */
export interface Drawing {
  readonly title: string;
  readonly body: string;
  readonly width?: number;
  readonly height: number;
}

export interface GenerationPanel {
  readonly element: HTMLElement;
  /** The selection changed, or data came. */
  follow(): void;
  /** The bars that are shown, with their title. */
  chances(): { readonly title: string; readonly bars: readonly Bar[] };
  /** What else a saved picture shows: above the bars, and below them. */
  drawings(): { readonly above: readonly Drawing[]; readonly below: readonly Drawing[] };
  caption(): string;
  table(): TableData;
  zoom(direction: -1 | 0 | 1): void;
  unmount(): void;
}

/** What panels share: where they are, their words, and a way to say that a promise failed. */
export interface GenerationContext {
  readonly stage: Stage;
  readonly word: Wording;
  failed(error: unknown): void;
}
