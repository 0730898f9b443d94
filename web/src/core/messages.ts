/**
 * Messages: codes with parameters, formatted in the reader's language. Python's messages/message.py is the same.
 *
 * In:   `{code, parameters, default}` from the server or a file, and the catalogue of a language.
 * Out:  text. What no catalogue knows is shown by its default, else by its code.
 */

import type { Language, Spoken } from "../api/types";
import { formatLikePython } from "./formats";

export interface Message {
  readonly code: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly default?: string | null | undefined;
}

export type Parameter = string | number | boolean | null | Message | readonly Parameter[];
export type Catalogue = Readonly<Record<string, string>>; // templates by code

/** A text for people: a message, words of the page, or a text that is not ours. */
export type Text = Message | Spoken | string;

const catalogues = new Map<Language, Catalogue>(); // those that have been fetched

export function keepCatalogue(language: Language, catalogue: Catalogue): void {
  catalogues.set(language, catalogue);
}

export function formatText(
  text: Text,
  language: Language,
  catalogue: Catalogue = catalogues.get(language) ?? {},
): string {
  if (typeof text === "string") return text;
  if (typeof text === "function") return text(language);
  return formatMessage(text, catalogue);
}

const LONGEST_QUOTE = 200;
const FIELD = /\{\{|\}\}|\{([^{}:]*)(?::([^{}]*))?\}/g;

export function formatMessage(message: Message, catalogue: Catalogue): string {
  const template = catalogue[message.code] ?? message.default;
  if (template == null) return message.code;
  return template.replace(FIELD, (whole, name: string | undefined, how = "") => {
    if (whole === "{{") return "{";
    if (whole === "}}") return "}";
    const value = message.parameters[name ?? ""];
    return value === undefined ? whole : formatParameter(value, how, catalogue);
  });
}

function formatParameter(value: Parameter, how: string, catalogue: Catalogue): string {
  if (isMessage(value)) return formatMessage(value, catalogue);
  if (how.startsWith("plural ")) {
    const [one = "", many = ""] = how.slice("plural ".length).split("|");
    return value === 1 ? one : many;
  }
  if (Array.isArray(value)) {
    return join(
      value.map((each) => formatParameter(each, "", catalogue)),
      how,
      catalogue,
    );
  }
  if (how === "q") return quote(value as string | number | boolean | null);
  return typeof value === "number" ? formatLikePython(value, how) : value === null ? "None" : String(value);
}

function isMessage(value: Parameter): value is Message {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function join(texts: readonly string[], how: string, catalogue: Catalogue): string {
  const between = (code: string, other: string): string => (catalogue[code] ?? other).replaceAll("_", " ");
  const separator = between("list.separator", ",_");
  if ((how === "or" || how === "and") && texts.length > 1) {
    const last = texts.slice(-2).join(between(`list.${how}`, `_${how}_`));
    return [...texts.slice(0, -2), last].join(separator);
  }
  return texts.join(separator);
}

/** As Python's repr does, nearly: control characters are shown, and long texts are cut. */
function quote(value: string | number | boolean | null): string {
  if (typeof value !== "string") return String(value);
  const letters = [...value];
  const short = letters.length > LONGEST_QUOTE ? `${letters.slice(0, LONGEST_QUOTE).join("")}…` : value;
  const escaped = JSON.stringify(short).slice(1, -1).replaceAll('\\"', '"');
  return short.includes("'") && !short.includes('"') ? `"${escaped}"` : `'${escaped.replaceAll("'", "\\'")}'`;
}
