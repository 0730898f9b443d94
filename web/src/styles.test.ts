import { describe, expect, test } from "vitest";

/** Style sheets take type sizes and distances from styles/tokens.css, as they take colours; hairlines of 1px are free. */

const sheets = import.meta.glob<string>("./**/*.css", { eager: true, query: "?raw", import: "default" });
const TOKENS = "./styles/tokens.css";
const MEASURED =
  /(?:^|[\s;{])(font|font-size|(?:padding|margin)(?:-[a-z-]+)?|(?:row-|column-)?gap):\s*([^;}]+)/g;

/** Declarations with a length that should be a token. */
function rawLengths(css: string): string[] {
  return [...css.replace(/\/\*[\s\S]*?\*\//g, "").matchAll(MEASURED)].flatMap(([, property, value]) => {
    const judged = property === "font" ? value!.split("/")[0]! : value!; // behind the slash: the line height
    const lengths = judged.replace(/calc\(\d+px \+ /g, "").match(/[\d.]+(?:px|rem|pt)/g) ?? []; // a column and a distance
    return lengths.some((length) => length !== "1px") ? [`${property}: ${value}`] : [];
  });
}

/** Names of custom properties. */
function namesIn(css: string, pattern: RegExp): Set<string> {
  return new Set([...css.matchAll(pattern)].map(([, name]) => name!));
}

/** Classes that a sheet gives a look wherever they stand. */
function stylesAlone(css: string): string[] {
  const pieces = css.replace(/\/\*[\s\S]*?\*\//g, "").split(/[{},]/);
  return pieces.map((piece) => piece.trim()).filter((piece) => /^\.[\w-]+$/.test(piece));
}

describe("class names", () => {
  test("the shell styles nowhere what views and marks style as a state of their own", () => {
    const inside = Object.entries(sheets).filter(([path]) => /^\.\/(views|marks)\//.test(path));
    const states = namesIn(inside.map(([, css]) => css).join("\n"), /[\w\])](\.[a-zA-Z][\w-]*)/g); // as tr.chosen
    expect(states).toContain(".chosen");
    const shell = Object.entries(sheets).filter(([path]) => path.startsWith("./shell/"));
    expect(shell.flatMap(([, css]) => stylesAlone(css)).filter((name) => states.has(name))).toEqual([]);
  });
});

describe("design tokens", () => {
  test("no type size or distance is written in pixels elsewhere", () => {
    const others = Object.entries(sheets).filter(([path]) => path !== TOKENS);
    expect(others.length).toBeGreaterThan(15);
    expect(Math.min(...Object.values(sheets).map((css) => css.length))).toBeGreaterThan(100); // they were read
    expect(others.flatMap(([path, css]) => rawLengths(css).map((found) => `${path}: ${found}`))).toEqual([]);
  });

  test("every token exists and is used", () => {
    const all = Object.values(sheets).join("\n");
    const tokens = namesIn(sheets[TOKENS]!, /(--(?:text|space)-[\w-]+):/g);
    const used = namesIn(all, /var\((--(?:text|space)-[\w-]+)\)/g);
    expect([...used].sort()).toEqual([...tokens].sort());
  });

  test.each([
    ["a { font-size: 13px }", 1],
    ["a { font: 600 13px / 20px var(--font); }", 1],
    ["a { margin-inline-start: 0.5rem; gap: 2px 0 }", 2],
    ["a { margin: calc(-1 * 8px) }", 1],
    ["a { font: var(--text-m) / 20px var(--font); padding: 1px var(--space-1); margin: 0 auto }", 0],
    ["a { padding-left: calc(80px + var(--space-2)); font-size: 0.75em; height: 24px }", 0],
  ])("%s has %i raw lengths", (css, count) => expect(rawLengths(css).length).toBe(count));
});
