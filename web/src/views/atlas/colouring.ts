/**
 * How heads are coloured: by their type, their cluster, what silencing them costs, a measure or a score.
 *
 * In:   one or two atlases, the name of a colouring: "type", "cost", "measure:entropy", "score:induction".
 * Out:  for each head a colour, ink that can be read on it, a short sign and words. A type has one colour in every atlas.
 */

import type { AtlasDescription, AtlasDetector, AtlasHead } from "../../api/types";
import { digits } from "../../core/formats";
import type { Text } from "../../core/messages";
import type { Theme } from "../../core/view";
import { type ColourScale, colourScale } from "../../marks/cells";
import { headColour, inkOver } from "../../marks/colours";
import type { Words } from "./words";

export interface Colouring {
  readonly scale: ColourScale | null; // null: colours are names, not numbers
  readonly title: string;
  fill(head: AtlasHead): string | null; // null: there is nothing to show
  ink(head: AtlasHead): string;
  sign(head: AtlasHead): string;
  describe(head: AtlasHead): string;
}

/** What parts of the view are drawn with. */
export interface Palette {
  readonly say: Words;
  readonly theme: Theme;
  text(said: Text): string;
}

export function findDetector(atlas: AtlasDescription, name: string | null): AtlasDetector | undefined {
  return atlas.detectors.find((each) => each.name === name);
}

export function nameType(atlas: AtlasDescription, type: string | null, { say, text }: Palette): string {
  const detector = findDetector(atlas, type);
  return type === null ? say.noType : detector ? text(detector.title) : type;
}

export function typeColour(atlas: AtlasDescription, type: string, theme: Theme): string {
  return headColour(findDetector(atlas, type)?.colour ?? atlas.detectors.length, theme);
}

export function inkOn(colour: string): string {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return inkOver(red, green, blue);
}

/** The number of a head under a name; null where it has none. */
export function numberOf(head: AtlasHead, name: string): number | null {
  const [kind = "", rest = ""] = split(name);
  if (kind === "cost") return head.cost?.mean ?? null;
  if (kind === "measure") return head.measures[rest]?.mean ?? null;
  return kind === "score" ? (head.scores[rest]?.mean ?? null) : null;
}

function split(name: string): readonly [string, string] {
  const at = name.indexOf(":");
  return at < 0 ? [name, ""] : [name.slice(0, at), name.slice(at + 1)];
}

/** Names of colourings that an atlas has. */
export function colouringsOf({ heads, detectors, clusters }: AtlasDescription): readonly string[] {
  const measures = new Set(heads.flatMap((head) => Object.keys(head.measures)));
  const scored = detectors.filter(({ name }) => heads.some((head) => head.scores[name]));
  return [
    "type",
    ...(clusters.length > 1 ? ["cluster"] : []),
    ...(heads.some((head) => head.cost) ? ["cost"] : []),
    ...[...measures].map((name) => `measure:${name}`),
    ...scored.map(({ name }) => `score:${name}`),
  ];
}

export function nameColouring(atlas: AtlasDescription, name: string, palette: Palette): string {
  const [kind, rest] = split(name);
  const { say } = palette;
  if (kind === "measure") return say.measure(rest);
  if (kind === "score") return nameType(atlas, rest, palette);
  return kind === "cost" ? say.cost : kind === "cluster" ? say.cluster : say.type;
}

/** `atlases`: all that are shown, so that they share one scale; each head is one of `atlas` or of another. */
export function makeColouring(
  atlases: readonly AtlasDescription[],
  name: string,
  palette: Palette,
): Colouring {
  const atlas = atlases[0]!;
  const { say, theme } = palette;
  const title = nameColouring(atlas, name, palette);
  if (name === "type" || name === "cluster") {
    const knows = (type: string | null): AtlasDescription =>
      atlases.find((each) => findDetector(each, type)) ?? atlas; // only one of two may have looked for a type
    const named = (head: AtlasHead): string =>
      name === "cluster"
        ? say.clusterIs(String(head.cluster))
        : nameType(knows(head.type), head.type, palette);
    const fill = (head: AtlasHead): string | null => {
      if (name === "cluster") return headColour(head.cluster, theme);
      return head.type === null ? null : typeColour(knows(head.type), head.type, theme);
    };
    return {
      scale: null,
      title,
      fill,
      ink: (head) => inkOn(fill(head) ?? ""),
      sign: (head) =>
        name === "cluster"
          ? String(head.cluster)
          : head.type === null
            ? ""
            : signOf(knows(head.type), head.type, named(head)),
      describe: named,
    };
  }
  const values = atlases.flatMap(({ heads }) =>
    heads.flatMap((head) => numberOf(head, name) ?? []).filter(Number.isFinite),
  );
  const low = name.startsWith("score:") ? 0 : Math.min(...values);
  const reach = values.length > 0 ? ([Math.min(low, ...values), Math.max(...values)] as const) : null;
  const scale = colourScale(reach, name === "cost" ? "diverging" : "sequential", false, theme);
  return {
    scale,
    title,
    fill: (head) => scale.css(numberOf(head, name)),
    ink: (head) => scale.ink(numberOf(head, name) ?? Number.NaN) ?? "inherit",
    sign: () => "",
    describe: (head) => {
      const value = numberOf(head, name);
      return value === null ? say.noValue : say.value(title, digits(value, 3));
    },
  };
}

/** Letters that stand for a type in a small square: its detail ("obj"), or the first of its name. */
export function signOf(atlas: AtlasDescription, type: string, name: string): string {
  const detail = findDetector(atlas, type)?.detail;
  if (detail) return detail.slice(0, 3);
  const first = [...name].slice(0, 2).join("");
  return /^[a-z0-9 ]+$/i.test(first) ? first : [...name][0]!;
}
