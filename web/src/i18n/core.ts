/**
 * Words of the page, by language: `words.en.ts`, `words.zh.ts` … beside each other, found by being there.
 *
 * In:   the files of one set of words; every language has the keys of English, or it does not compile (SameWords).
 * Out:  words(language). In the page a language is fetched when it is chosen; tests and other hosts have all of them.
 */

import type { Language, Spoken } from "../api/types";

/** The words of another language: the same keys, and functions with the same parameters. */
export type SameWords<T> = { readonly [K in keyof T]: T[K] extends string ? string : T[K] };
type Modules<M> = Readonly<Record<string, M | (() => Promise<M>)>>; // "./words.en.ts" → its module, or how to fetch it

const sets: ((language: Language) => Promise<void>)[] = []; // one for each set of words that is in use
let wanted: Language = "en";

/** The languages of the page: those that have files of words. */
export const languages: Language[] = ["en"];

export function loadWords<M, K extends keyof M>(
  files: Modules<M>,
  name: K,
): (language: Language) => SameWords<M[K]> {
  const loaded = new Map<string, M[K]>();
  const missing = new Map<string, () => Promise<M>>();
  for (const [path, module] of Object.entries(files)) {
    const language = /\.([\w-]+)\.ts$/.exec(path)?.[1] ?? "";
    if (!languages.includes(language)) languages.push(language);
    if (typeof module === "function") missing.set(language, module as () => Promise<M>);
    else loaded.set(language, (module as M)[name]);
  }
  sets.push(async (language) => {
    const nearest = loaded.has(language) || missing.has(language) ? language : "en";
    const fetchWords = missing.get(nearest);
    if (fetchWords && !loaded.has(nearest)) loaded.set(nearest, (await fetchWords())[name]);
  });
  // while a language is on its way, whatever is here
  return (language) =>
    (loaded.get(language) ?? loaded.get("en") ?? [...loaded.values()][0]) as SameWords<M[K]>;
}

/** Words that are always those of the present language: `say.title` after a change is the title in the new one. */
export function liveWords<T extends object>(words: (language: Language) => T, language: () => Language): T {
  return new Proxy({} as T, { get: (_, name) => Reflect.get(words(language()), name) });
}

/** Wait until the words of a language, or of the last one asked for, are here: of all views that are here. */
export async function learn(language: Language = wanted): Promise<void> {
  wanted = language;
  await Promise.all(sets.map((fetchSet) => fetchSet(language)));
}

/** How a view presents itself at its tab. */
export function introduce<T extends { readonly title: string; readonly about: string }>(
  words: (language: Language) => T,
): { readonly title: Spoken; readonly about: Spoken } {
  return { title: (language) => words(language).title, about: (language) => words(language).about };
}

/** The first language of the browser's list that the page has, as a whole (pt-BR) or without its region. */
export function preferredLanguage(wanted: readonly string[]): Language {
  const tags = wanted.flatMap((tag) => [tag, tag.toLowerCase().split("-")[0]!]);
  return tags.find((tag) => languages.includes(tag)) ?? "en";
}

/** The language after this one, in a circle. */
export function nextLanguage(language: Language): Language {
  return languages[(languages.indexOf(language) + 1) % languages.length]!;
}

/** What a language calls itself: 中文. */
export function nameLanguage(language: Language): string {
  return new Intl.DisplayNames([language, "en"], { type: "language" }).of(language) ?? language;
}
