import { describe, expect, test } from "vitest";
import { allViews as views } from "./all_views";
import { preferredLanguage, type SameWords } from "./i18n/core";

type Words = (language: "en" | "zh") => Readonly<Record<string, unknown>>;
const files = import.meta.glob<Readonly<Record<string, unknown>>>(
  [
    "./i18n/{focus,hosts,runs}.ts",
    "./shell/{words,*_words}.ts",
    "./shell/later/*_words.ts",
    "./shell/recipes/words.ts",
    "./views/*/{words,*_words}.ts",
  ],
  {
    eager: true,
  },
);
const rooms = Object.entries(files).flatMap(([path, file]) =>
  Object.entries(file)
    .filter((entry): entry is [string, Words] => typeof entry[1] === "function")
    .map(([name, words]) => [`${path} ${name}`, words] as const),
);

/** Values for parameters: numbers do where text is meant, too. */
function say(word: unknown): string {
  return typeof word === "function"
    ? String((word as (...parts: number[]) => string)(3, 12, 7, 1, 2))
    : String(word);
}

const SAME =
  /^[\s\d\p{P}\p{S}]*$|^(Glassformer|Hugging Face|API|UMAP|PCA|PNG|SVG|Ctrl \+ Enter|τ.*|[A-Za-z]{1,3}|Glassformer \d+)$/u; // names

describe("words", () => {
  test("there are some", () => expect(rooms.length).toBeGreaterThan(5));

  test.each(rooms)("%s: both languages say everything, each in its own way", (_, words) => {
    const en = words("en");
    const zh = words("zh");
    expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
    for (const key of Object.keys(en)) {
      expect(typeof zh[key], key).toBe(typeof en[key]);
      if (typeof en[key] === "object") continue;
      const [english, chinese] = [say(en[key]), say(zh[key])];
      if (english.trim() !== "") expect(chinese, key).not.toBe("");
      expect(chinese, key).not.toMatch(/undefined|NaN|\[object/);
      if (!SAME.test(chinese)) {
        expect(chinese, `${key} has no Chinese: ${chinese}`).toMatch(/\p{Script=Han}/u);
      }
      expect(english, `${key} has Chinese in English`).not.toMatch(/\p{Script=Han}/u);
    }
  });

  test.each(rooms)(
    "%s: colours are called strong or weak, since dark is much in one theme and little in the other",
    (_, words) => {
      const shade = /\b(deep|dark|bright|light|pale)(er|est)\b|dark part|(越|较|最)(深|浅|亮|暗)(?!层)/;
      for (const language of ["en", "zh"] as const)
        for (const [key, word] of Object.entries(words(language)))
          if (typeof word !== "object") expect(say(word), key).not.toMatch(shade);
    },
  );

  test.each(views.map((view) => [view.name, view] as const))(
    "the view %s has a title and a sentence in both",
    (_, view) => {
      for (const phrase of [view.title, view.about]) {
        expect(phrase("en")).toMatch(/[a-z]/);
        expect(phrase("zh")).toMatch(/\p{Script=Han}/u);
      }
    },
  );

  test("colours are described as they are in both themes: in the dark one, more is brighter", () => {
    const files = import.meta.glob("./**/*words.{en,zh}.ts", {
      query: "?raw",
      import: "default",
      eager: true,
    });
    expect(Object.keys(files).length).toBeGreaterThan(10);
    for (const [name, text] of Object.entries(files))
      expect(String(text), name).not.toMatch(
        /\b(deeper|darker|paler|brighter)\b|the dark part|越深|较深|越亮/,
      );
  });

  test("names and places of views are their own", () => {
    expect(new Set(views.map((view) => view.name)).size).toBe(views.length);
    expect(new Set(views.map((view) => view.order)).size).toBe(views.length);
  });

  test("a missing or a superfluous key does not compile", () => {
    type Words = SameWords<{ a: string; b: (n: number) => string }>;
    const right: Words = { a: "一", b: (n) => `${n}` };
    // @ts-expect-error: b is missing
    const lacking: Words = { a: "一" };
    // @ts-expect-error: c is not a word of English
    const more: Words = { ...right, c: "三" };
    // @ts-expect-error: a function in one, a sentence in the other
    const other: Words = { a: "一", b: "二" };
    expect([right, lacking, more, other].map(({ a }) => a)).toEqual(["一", "一", "一", "一"]);
  });

  test("the browser's languages decide", () => {
    expect(preferredLanguage(["de-AT", "zh-Hant-TW", "en"])).toBe("zh");
    expect(preferredLanguage(["en-GB", "zh"])).toBe("en");
    expect(preferredLanguage(["fr"])).toBe("en");
    expect(preferredLanguage([])).toBe("en");
  });
});
