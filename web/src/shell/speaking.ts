/**
 * Sources that speak the language of the page, so that no view has to translate what it passes on.
 *
 * In:   whatever answers with promises: a recording, a rerunner, the playground. What the server says by itself comes
 *       in English, and under `zh` in Chinese: refusals, the stamp of a recording, why a metric has no value.
 * Out:  the same, with these sentences in one language. A view is mounted anew for another language.
 */

import type { Description, Language, ScoreDescription } from "../api/types";
import { explain } from "../core/refusals";
import { Refusal } from "../core/source";
import type { App } from "./state";

type Chinese<T> = { readonly zh?: Partial<T> | null | undefined };

const known = new WeakMap<object, object>(); // in Chinese: who asks twice gets the same

export function speaking<T extends object>(asked: T, language: Language): T {
  if (language === "en") return asked; // as it was said
  const before = known.get(asked) as T | undefined;
  if (before) return before;
  let description: Description | null = null;
  const spoken = new Proxy(asked, {
    get(target, name) {
      const part: unknown = Reflect.get(target, name);
      if (name === "description") description ??= withStamp(part as Description);
      if (typeof part !== "function") return name === "description" ? description : part;
      return (...given: unknown[]) => {
        const answer: unknown = part.apply(target, given);
        if (!(answer instanceof Promise)) return answer;
        const told = name === "score" ? answer.then(withReasons) : answer;
        return told.catch((error: unknown) => refuse(error, language));
      };
    },
  });
  known.set(asked, spoken);
  return spoken;
}

/** What is said in both languages, in Chinese. */
function inChinese<T extends Chinese<T>>(said: T): T {
  return { ...said, ...said.zh };
}

function withStamp(description: Description): Description {
  return { ...description, evidence: inChinese(description.evidence) };
}

function withReasons(score: ScoreDescription): ScoreDescription {
  return { ...score, parts: score.parts.map(inChinese) };
}

function refuse(error: unknown, language: Language): never {
  if (!(error instanceof Refusal)) throw error;
  const said = new Refusal(explain(error, language), error.code, error.status, error.zh);
  throw Object.assign(said, { cause: error });
}

/** What went wrong, in a sentence of the page's language; whoever draws it draws it again in another language. */
export function sentenceOf(error: unknown, app: App): string {
  const say = app.words.value;
  if (error instanceof Refusal) {
    if (error.code === "unreachable") return say.unreachable;
    return error.code === "not_in_file" ? say.notInFile : explain(error, app.language.value);
  }
  return say.unexpected(error instanceof Error && error.message ? error.message : String(error));
}
