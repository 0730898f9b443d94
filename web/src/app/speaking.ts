/**
 * Questions whose refusals come in the language of the page, so that no view has to translate what it passes on.
 *
 * In:   whatever answers with promises: a recording, a workbench, the playground.
 * Out:  the same, with the sentences of its refusals in one language. A view is mounted anew for another language.
 */

import { explain } from "../i18n/refusals";
import { Refusal } from "../source";
import type { Language } from "../types";
import type { App } from "./state";

const known = new WeakMap<object, object>(); // in Chinese: who asks twice gets the same

export function speaking<T extends object>(asked: T, language: Language): T {
  if (language === "en") return asked; // as it was said
  const before = known.get(asked) as T | undefined;
  if (before) return before;
  const spoken = new Proxy(asked, {
    get(target, name) {
      const part: unknown = Reflect.get(target, name);
      if (typeof part !== "function") return part;
      return (...given: unknown[]) => {
        const answer: unknown = part.apply(target, given);
        return answer instanceof Promise ? answer.catch((error: unknown) => refuse(error, language)) : answer;
      };
    },
  });
  known.set(asked, spoken);
  return spoken;
}

function refuse(error: unknown, language: Language): never {
  if (!(error instanceof Refusal)) throw error;
  throw new Refusal(explain(error, language), error.code, error.status, error.zh);
}

/** What went wrong, in a sentence of the page's language; whoever draws it draws it again in another language. */
export function sentenceOf(error: unknown, app: App): string {
  const say = app.words.value;
  if (error instanceof Refusal) {
    if (error.code === "unreachable") return say.unreachable;
    return error.code === "not_in_file" ? say.notInFile : explain(error, app.language.value);
  }
  return error instanceof Error && error.message ? error.message : String(error);
}
