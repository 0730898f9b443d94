/**
 * Words in both languages, checked by type: a key that one language lacks does not compile.
 *
 * In:   { en, zh } with the same keys; a value is a sentence, or a function that makes one.
 * Out:  words(language), with the functions' parameters typed.
 */

import type { Language, Phrase } from "../api/types";

// biome-ignore lint/suspicious/noExplicitAny: parameters are checked where the words are used
type Word = string | ((...parts: any[]) => string);
type Same<T> = { readonly [K in keyof T]: T[K] extends string ? string : T[K] };

export function defineStrings<const T extends Readonly<Record<string, Word>>>(strings: {
  readonly en: T;
  readonly zh: Same<NoInfer<T>>;
}): (language: Language) => Same<T> {
  return (language) => (language === "zh" ? strings.zh : (strings.en as Same<T>));
}

const rooms: ((language: Language) => Promise<void>)[] = []; // whose words are fetched
let wanted: Language = "en";

/** What the page's build puts in the place of `defineStrings`: a language is fetched when it is spoken. */
export function fetchStrings<T>(
  files: Readonly<Record<Language, () => Promise<T>>>,
): (language: Language) => T {
  const here: { [language in Language]?: T } = {};
  rooms.push(async (language) => {
    here[language] ??= await files[language]();
  });
  return (language) => (here[language] ?? here.en ?? here.zh) as T; // the other one while this is on its way
}

/** Wait until the words of a language, or of the last one asked for, are here: of all views that are here. */
export async function learn(language: Language = wanted): Promise<void> {
  wanted = language;
  await Promise.all(rooms.map((fetchRoom) => fetchRoom(language)));
}

/** A sentence in both languages: for what is said before a language is chosen. */
export function inBoth<T>(words: (language: Language) => T, say: (word: T) => string): Phrase {
  return {
    get en() {
      return say(words("en"));
    },
    get zh() {
      return say(words("zh"));
    },
  };
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
