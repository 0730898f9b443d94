/**
 * Why there is no result: a sentence, and a button that tries again.
 *
 * In:   an error, the element to show it in.
 * Out:  the text on the page.
 */

import type { Language } from "../../api/types";
import { formatText } from "../../core/messages";
import { errorText, Refusal } from "../../core/source";
import { make } from "../../marks/make";
import { words } from "./words";

/** Whether the server refused because a model runs: there will be a result later. */
export function isBusy(error: unknown): boolean {
  return error instanceof Refusal && error.code === "busy";
}

export function explainError(error: unknown, language: Language): string {
  const onlyDefaults =
    error instanceof Refusal && (error.code === "not_in_file" || error.code === "no_workbench");
  return onlyDefaults ? words(language).onlyDefaults : formatText(errorText(error), language);
}

/** Show it; false where it is shown already, so that the button keeps the focus. */
export function showError(
  place: HTMLElement,
  sentence: () => string,
  again: () => string,
  ask: () => void,
): boolean {
  if (!place.hidden && place.firstChild?.textContent === sentence()) return false;
  place.hidden = false;
  place.replaceChildren(
    make("span", {}, sentence),
    make("button", { type: "button", class: "button", onclick: ask }, again),
  );
  return true;
}
