/**
 * Words in both languages, checked by type: a key that one language lacks does not compile.
 *
 * In:   { en, zh } with the same keys; a value is a sentence, or a function that makes one.
 * Out:  words(language), with the functions' parameters typed.
 */

import type { Language, Phrase } from "../types";

// biome-ignore lint/suspicious/noExplicitAny: parameters are checked where the words are used
type Word = string | ((...parts: any[]) => string);
type Same<T> = { readonly [K in keyof T]: T[K] extends string ? string : T[K] };

export function defineStrings<const T extends Readonly<Record<string, Word>>>(strings: {
  readonly en: T;
  readonly zh: Same<NoInfer<T>>;
}): (language: Language) => Same<T> {
  return (language) => (language === "zh" ? strings.zh : (strings.en as Same<T>));
}

/** A sentence in both languages: for what is said before a language is chosen. */
export function inBoth<T>(words: (language: Language) => T, say: (word: T) => string): Phrase {
  return { en: say(words("en")), zh: say(words("zh")) };
}

/** How a view presents itself at its tab. */
export function introduce<T extends { readonly title: string; readonly about: string }>(
  words: (language: Language) => T,
): { readonly title: Phrase; readonly about: Phrase } {
  return { title: inBoth(words, (word) => word.title), about: inBoth(words, (word) => word.about) };
}

export const languages: readonly Language[] = ["en", "zh"];

/** The first language of the browser's list that we speak. */
export function preferredLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const primary = tag.toLowerCase().split("-")[0];
    if (primary === "zh" || primary === "en") return primary;
  }
  return "en";
}
