/**
 * Questions whose refusals come in the language of the page, so that no view has to translate what it passes on.
 *
 * In:   whatever answers with promises: a recording, a workbench, the playground.
 * Out:  the same, with the sentences of its refusals in one language. A view is mounted anew for another language.
 */

import { explain } from "../i18n/refusals";
import { Refusal } from "../source";
import type { Language } from "../types";

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
