/** What stands below the form of generation: the steps of a text, or a distribution. */

import { flag, integer, optional, type Schema, text } from "../../core/options";
import type { Setting } from "../../core/recording_view";
import type { TableData } from "../../core/view";
import type { Bar } from "../../marks/bars";
import type { Words } from "./words";

export interface GenerationOptions {
  readonly node: number | null; // a hypothesis that was not kept
  readonly step: number; // where the text does not say which row wrote which word
  readonly beside: string; // id of the branch that the text is compared with
  readonly predict: boolean; // set by others: start at once
}

export const options: Schema<GenerationOptions> = {
  node: optional(integer(0)),
  step: integer(0),
  beside: text("", (id) => /^[\w.~-]{4,280}$/.test(id)),
  predict: flag(),
};

/** What the view and its panels are made with. */
export type GenerationSetting = Setting<Words, GenerationOptions>;

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
  caption?(): string;
  table(): TableData;
  togglePlay?(): void;
}
