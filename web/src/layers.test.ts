import { describe, expect, test } from "vitest";

/**
 * Imports point down: shell → views → marks | data → core → i18n → api. Neighbours in one row do not import each other,
 * and no view imports another view. Files in src/ itself put the page together and may import anything.
 */
const ROWS: readonly (readonly string[])[] = [
  ["shell"],
  ["views"],
  ["marks", "data"],
  ["core"],
  ["i18n"],
  ["api"],
];

/** Imports against the rule that are still there. The list only shrinks: an entry that is no longer needed fails. */
const ALLOWED: readonly string[] = [];

const sources = import.meta.glob<string>("./**/*.{ts,tsx}", {
  eager: true,
  query: "?raw",
  import: "default",
});

/** A file's path without "./" and ending: "views/heatmap/view". */
function nameOf(path: string): string {
  return path.replace(/^\.\//, "").replace(/\.tsx?$/, "");
}

function importsOf(name: string, text: string): string[] {
  const found = text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]*)"/g);
  return [...found].map(([, target]) => nameOf(new URL(target!, `http://page/${name}`).pathname.slice(1)));
}

/** Why a file may not import another; null where it may. */
function objection(from: string, to: string): string | null {
  const [fromLayer = "", fromView = ""] = from.split("/");
  const [toLayer = "", toView = ""] = to.split("/");
  const row = (layer: string) => ROWS.findIndex((each) => each.includes(layer));
  if (row(fromLayer) < 0 && !from.includes("/")) return null; // puts the page together
  if (!to.includes("/")) return "src/ itself is above every layer";
  if (toLayer === "testing") return "only tests use testing/";
  if (fromLayer === "views" && toLayer === "views" && fromView !== toView)
    return "a view never imports another view";
  if (fromLayer === toLayer) return null;
  return row(toLayer) > row(fromLayer) ? null : `${fromLayer} never imports ${toLayer}`;
}

const pairs = Object.entries(sources)
  .filter(([path]) => !/\.test\.tsx?$|^\.\/testing\/|\.d\.ts$/.test(path))
  .flatMap(([path, text]) => importsOf(nameOf(path), text).map((to) => [nameOf(path), to] as const));

/** What marks may know: they draw, so no source, no selection, no words. */
const DRAWING = /^(marks|core\/maths)\/|^core\/(csv|formats|generation|heat|heat_camera|weight_bytes)$/;
const SHAPES = /^import type \{[^}]*\} from "\.\.\/api\/types";$/gm; // of what is drawn
const THEME = 'import type { Theme } from "../core/view";';

/** Imports of a mark that are not drawing. */
function notDrawing(name: string, text: string): string[] {
  const rest = text.replace(SHAPES, "").replace(THEME, "");
  return importsOf(name, rest).filter((to) => !DRAWING.test(to));
}

describe("layers", () => {
  test("every folder has its place", () => {
    const folders = new Set(Object.keys(sources).map((path) => nameOf(path).split("/")));
    const layers = new Set([...folders].filter((parts) => parts.length > 1).map(([folder]) => folder));
    layers.delete("testing");
    expect([...layers].sort()).toEqual(ROWS.flat().sort());
    expect(pairs.length).toBeGreaterThan(500);
  });

  test("imports point down", () => {
    const against = pairs.flatMap(([from, to]) => {
      const why = objection(from, to);
      return why === null ? [] : [{ pair: `${from} → ${to}`, why }];
    });
    expect(against.filter(({ pair }) => !ALLOWED.includes(pair))).toEqual([]);
    expect(ALLOWED.filter((pair) => !against.some((each) => each.pair === pair))).toEqual([]);
  });

  test.each([
    ["views/lines/view", "views/text/view"],
    ["views/lines/view", "shell/state"],
    ["marks/bars", "data/http"],
    ["data/http", "marks/bars"],
    ["core/view", "data/http"],
    ["api/types", "core/view"],
    ["core/view", "main"],
    ["data/http", "testing/frames"],
  ])("%s must not import %s", (from, to) => expect(objection(from, to)).not.toBeNull());

  test.each([
    ["views/lines/view", "views/lines/settings"],
    ["shell/state", "views/lines/view"],
    ["marks/bars", "core/view"],
    ["main", "shell/mount"],
  ])("%s may import %s", (from, to) => expect(objection(from, to)).toBeNull());

  test("marks draw and do nothing else", () => {
    const marks = Object.entries(sources).filter(([path]) => /^\.\/marks\/(?!.*\.test)/.test(path));
    expect(marks.length).toBeGreaterThan(20);
    const found = marks.flatMap(([path, text]) =>
      notDrawing(nameOf(path), text).map((to) => `${path} → ${to}`),
    );
    expect(found).toEqual([]);
    expect(marks.filter(([, text]) => /\bfetch\(|XMLHttpRequest|EventSource/.test(text))).toEqual([]);
  });

  test.each([
    ['import { words } from "../i18n/focus";'],
    ['import type { RecordingSource } from "../core/source";'],
    ['import type { Stage, Theme } from "../core/view";'],
    ['import { chooseMap } from "../core/maps";'],
    ['import { tensor } from "../api/frames";'],
  ])("a mark must not %s", (text) => expect(notDrawing("marks/bars", text).length).toBe(1));
});
