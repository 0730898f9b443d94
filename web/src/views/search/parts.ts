/**
 * What the parts of the view of searches share: how values are written, tables, sections.
 *
 * In:   a search, and what of the page the parts use.
 * Out:  texts and elements.
 */

import type { Language, SearchDescription, SearchEstimate, SearchTrial } from "../../api/types";
import { compact, digits } from "../../core/formats";
import type { Text } from "../../core/messages";
import type { Options } from "../../core/options";
import { make } from "../../marks/make";
import type { Value } from "./shapes";
import type { Words } from "./words";

/** Options of the view: which search, the order of trials, ranges of axes. */
export interface Asked {
  readonly id: string;
  readonly sort: string;
  readonly up: boolean;
  readonly brush: string;
}

/** What a part draws with. */
export interface Shown {
  readonly search: SearchDescription;
  readonly say: Words;
  readonly language: Language;
  readonly options: Options<Asked>;
  text(said: Text): string;
  /** Show a run. */
  open(run: string): void;
}

/** Colours of a chart: in the page by the theme, in a saved picture by value. */
export interface Inks {
  readonly accent: string;
  readonly soft: string;
}
export const PAGE_INKS: Inks = { accent: "var(--accent)", soft: "var(--ink-soft)" };

export function findTrial(search: SearchDescription, number: number | null): SearchTrial | undefined {
  return search.trials.find((trial) => trial.number === number);
}

/** A mean with its interval. */
export function writeEstimate({ say, language }: Shown, found: SearchEstimate | undefined): string {
  if (!found || found.mean === null || found.mean === undefined) return say.noValue;
  const { mean, high } = found;
  const shown = Math.abs(mean) >= 1e5 ? compact(mean, language) : digits(mean);
  if (high === null || high === undefined || high === mean) return shown;
  return say.interval(shown, digits(high - mean, 2));
}

/** The value of a setting. */
export function writeValue(say: Words, value: Value | undefined): string {
  if (value === null || value === undefined) return say.noValue;
  if (typeof value !== "number") return String(value);
  return Number.isInteger(value) ? String(value) : digits(value, 3);
}

/** A table whose rows begin with their name. */
export function drawTable(
  columns: readonly string[],
  rows: readonly { readonly cells: readonly string[]; readonly changed?: boolean }[],
): HTMLElement {
  const header = columns.map((name) => make("th", { scope: "col" }, name));
  const body = rows.map(({ cells: [name, ...cells], changed }) =>
    make(
      "tr",
      { "data-changed": changed ?? false },
      make("th", { scope: "row" }, name),
      ...cells.map((cell) => make("td", {}, cell)),
    ),
  );
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...header)), make("tbody", {}, ...body));
  return make("div", { class: "scroll" }, table);
}

export function drawSection(title: string, ...content: readonly Element[]): HTMLElement {
  return make("section", {}, make("h3", {}, title), make("div", { class: "scroll" }, ...content));
}
