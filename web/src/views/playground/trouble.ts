/**
 * Why there is no answer: the sentence, and a button that asks again.
 *
 * In:   an error, the place for it.
 * Out:  words on the page.
 */

import type { Language } from "../../api/types";
import { explain } from "../../core/refusals";
import { Refusal } from "../../core/source";
import { make } from "../../marks/make";
import { words } from "./words";

/** Whether there will be an answer as soon as somebody else has theirs. */
export function isBusy(error: unknown): boolean {
  return error instanceof Refusal && error.code === "busy";
}

export function explainTrouble(error: unknown, language: Language): string {
  if (error instanceof Refusal) {
    if (error.code === "not_in_file" || error.code === "no_workbench") return words(language).onlyDefaults;
    return explain(error, language);
  }
  return error instanceof Error ? error.message : String(error);
}

/** Shows it; false where it stands there already: whoever is on the button stays there. */
export function showTrouble(place: HTMLElement, sentence: string, again: string, ask: () => void): boolean {
  if (!place.hidden && place.firstChild?.textContent === sentence) return false;
  place.hidden = false;
  place.replaceChildren(
    make("span", {}, sentence),
    make("button", { type: "button", class: "button", onclick: ask }, again),
  );
  return true;
}
