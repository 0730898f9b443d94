/**
 * Whether a text can be of the language that was chosen for it, and whether the model has learnt the way.
 *
 * In:   the form, the model.
 * Out:  what does not fit, and the pair of languages that would. Nothing is changed here: a person decides.
 */

import type { ModelDescription } from "../api/types";
import { type Form, translates } from "./form";

export interface Pair {
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
}

export interface Misfit {
  readonly what: "chinese" | "unknown" | "not-chinese" | "untrained"; // unknown: Chinese, and the model reads none
  readonly better: Pair | null;
}

/** What does not fit; null where nothing plainly does. */
export function findMisfit(form: Form, model: ModelDescription | undefined): Misfit | null {
  const languages = model?.languages ?? [];
  if (!model || !translates(model) || languages.length === 0 || form.sourceLanguage === "") return null;
  const middle = model.pivot_language;
  /** From that language into the one chosen, where the model has learnt that, or else the other way round. */
  const from = (source: string | undefined): Pair | null => {
    const others = languages.filter((each) => each !== source && learnt(source ?? "", each, middle));
    const wishes = [form.targetLanguage, form.sourceLanguage, ...others];
    const target = wishes.find((each) => others.includes(each));
    return source && target ? { sourceLanguage: source, targetLanguage: target } : null;
  };
  const script = form.sequence === "text" ? scriptOf(form.text) : null;
  const chosen = scriptOfLanguage(form.sourceLanguage);
  const readers = languages.filter((each) => scriptOfLanguage(each) === script);
  if (script === "Han" && chosen !== "Han")
    return readers[0] ? { what: "chinese", better: from(readers[0]) } : { what: "unknown", better: null };
  if (script === "Latn" && chosen === "Han") return { what: "not-chinese", better: from(readers[0]) };
  if (!learnt(form.sourceLanguage, form.targetLanguage, middle))
    return { what: "untrained", better: from(form.sourceLanguage) };
  return null;
}

function learnt(source: string, target: string, middle: string | null): boolean {
  return middle === null || source === middle || target === middle;
}

/** Chinese: more characters than Latin words. Latin: no character at all. Kana are Japanese, which is left alone. */
export function scriptOf(text: string): "Han" | "Latn" | null {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return null;
  const characters = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const words = text.match(/\p{Script=Latin}+/gu)?.length ?? 0;
  if (characters > words) return "Han";
  return characters === 0 && words > 0 ? "Latn" : null;
}

function scriptOfLanguage(code: string): string {
  try {
    const script = new Intl.Locale(code).maximize().script ?? "";
    return script === "Hans" || script === "Hant" ? "Han" : script;
  } catch {
    return ""; // no language tag
  }
}
