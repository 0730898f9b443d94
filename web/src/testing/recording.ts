/**
 * A recording made up for tests of views: weights from a formula, tokens from a list.
 *
 * In:   how many tokens, layers and heads.
 * Out:  a RecordingSource that answers at once, a stage to mount on, and what was asked.
 */

import { afterEach } from "vitest";
import type { Frame, Numbers } from "../api/frames";
import type {
  Description,
  Language,
  MapDescription,
  OutputDescription,
  RowSide,
  TokenSlice,
} from "../api/types";
import { formatText } from "../core/messages";
import { type Place, placeOf, samePlace, writePlace } from "../core/place";
import { createSelection, type LinkedSelection, nothingSelected } from "../core/selection";
import type { RecordingSource } from "../core/source";
import type { Mounted, Rerunner, Stage, SubjectKind, SubjectOf, Theme, View } from "../core/view";

export interface Invention {
  readonly source?: readonly string[];
  readonly target?: readonly string[];
  readonly layers?: number;
  readonly heads?: number;
  readonly change?: Partial<Description>;
}

const sums = new Map<string, number>();

/** The weight of a head: rows sum to one, every head looks elsewhere. */
export function weightOf(layer: number, head: number, query: number, key: number, keys: number): number {
  const raw = (at: number) => 1 + ((at * 7 + query * 3 + head * 5 + layer * 11) % 13);
  const row = `${layer} ${head} ${query} ${keys}`;
  let sum = sums.get(row);
  if (sum === undefined) {
    sum = 0;
    for (let at = 0; at < keys; at++) sum += raw(at);
    sums.set(row, sum);
  }
  return raw(key) / sum;
}

export function frame(arrays: Readonly<Record<string, { shape: readonly number[]; data: Numbers }>>): Frame {
  const entries = Object.entries(arrays).map(([name, { shape, data }]) => {
    const bytes = data instanceof Uint8Array;
    return [
      name,
      {
        name,
        dtype: bytes ? "uint8" : "float32",
        shape,
        data,
        scale: bytes ? ("sqrt" as const) : null,
        maximum: 1,
      },
    ] as const;
  });
  return { arrays: new Map(entries), meta: {} };
}

export function makeMap(index: number, map: Partial<MapDescription & Place>): MapDescription {
  const queries = map.queries ?? 4;
  const { stack = "decoder", layer = index, kind = "self", step = null, ...others } = map;
  const place: Place = { stack, layer, kind, step };
  return {
    heads: 2,
    queries,
    keys: map.keys ?? queries,
    query_side: "source",
    row_side: "source",
    key_side: "source",
    query_start: 0,
    key_start: 0,
    causal: false,
    has_weights: true,
    has_scores: false,
    has_queries: false,
    has_keys: false,
    has_values: false,
    dense: true,
    levels: 1,
    key_heads: null,
    head_width: 8,
    scale: 0.5,
    relaxed: null,
    content: "weights",
    ...others,
    place: { ...placeOf(place), address: writePlace(place) },
  };
}

/** A text of the server. */
export function said(text: string) {
  return { code: "text.literal", parameters: { text }, default: "{text}" };
}

function describe({
  source = ["The", " cat", " sat"],
  target,
  layers = 2,
  heads = 2,
  change = {},
}: Invention): Description {
  const maps: MapDescription[] = [];
  for (let layer = 0; layer < layers; layer++) {
    const [left, right] = [source.length, target?.length ?? 0];
    const stack = target === undefined ? "decoder" : "encoder";
    maps.push(makeMap(maps.length, { stack, layer, heads, queries: left, keys: left }));
    if (target === undefined) continue;
    const written = target[0]?.startsWith("<") ? "written" : "target";
    const sides = {
      query_side: "target",
      row_side: "target",
      stack: "decoder",
      layer,
      heads,
      queries: right,
    } as const;
    maps.push(makeMap(maps.length, { ...sides, key_side: "target", keys: right }));
    maps.push(
      makeMap(maps.length, { ...sides, row_side: written, key_side: "source", kind: "cross", keys: left }),
    );
  }
  const side = (name: RowSide, texts: readonly string[]) => ({
    side: name,
    count: texts.length,
    text: texts.join(""),
  });
  const evidence = {
    model: "invented",
    model_hash: "0",
    dtype: "float32",
    exact: true,
    largest_error: 0,
    versions: {},
    messages: {
      kernel: said("eager"),
      reference: null,
      edits: [],
      mark: null,
      notes: [],
      summary: [said("exact"), said("eager")],
    },
  };
  return {
    id: "invented",
    title: said("Invented"),
    model: "invented",
    shape: target === undefined ? "decoder" : "encoder-decoder",
    evidence,
    source: side("source", source),
    target: target === undefined ? null : side("target", target),
    written: target === undefined ? null : side("written", target),
    maps,
    hidden: [],
    output: null,
    generation: null,
    ...change,
  } as Description;
}

export function invent(invention: Invention = {}): { source: RecordingSource; asked: string[] } {
  const description = describe(invention);
  const asked: string[] = [];
  const target = invention.target ?? [];
  const texts: Partial<Record<RowSide, readonly string[]>> = {
    source: invention.source ?? ["The", " cat", " sat"],
    target,
    written: [...target.slice(1), "</s>"],
  };
  const refuse = () => Promise.reject(new Error("not in this invention"));
  const mapAt = (place: Place) => description.maps.find((each) => samePlace(each.place, place))!;
  const source: RecordingSource = {
    description,
    within: () => source,
    async tokens(side: RowSide, range?: readonly [number, number]): Promise<TokenSlice> {
      const all = texts[side] ?? [];
      const [from, to] = range ?? [0, all.length];
      const offsets: (readonly [number, number])[] = [];
      let end = 0;
      for (const text of all) {
        offsets.push([end, end + [...text].length]);
        end += [...text].length;
      }
      const part = all.slice(from, to);
      return {
        side,
        start: from,
        texts: part,
        shown: part.map((text) => text.replace(/ /g, "␣")),
        ids: part.map((_, index) => from + index),
        special: part.map((text) => text.startsWith("<")),
        words: null,
        offsets: offsets.slice(from, to),
      };
    },
    async weights(
      place: Place,
      where: {
        head: number | "mean" | "all";
        queries?: readonly [number, number];
        keys?: readonly [number, number];
      },
      as: string,
    ) {
      const map = mapAt(place);
      asked.push(
        `weights ${map.place.address} ${where.head} ${where.queries ?? "*"} ${where.keys ?? "*"} ${as}`,
      );
      const [first, last] = where.queries ?? [0, map.queries];
      const [left, right] = where.keys ?? [0, map.keys];
      const every = Array.from({ length: map.heads }, (_, head) => head);
      const planes =
        typeof where.head === "number"
          ? [[where.head]]
          : where.head === "mean"
            ? [every]
            : every.map((head) => [head]);
      const values: number[] = [];
      for (const heads of planes) {
        for (let query = first; query < last; query++) {
          for (let key = left; key < right; key++) {
            const sum = heads.reduce(
              (total, head) => total + weightOf(map.place.layer, head, query, key, map.keys),
              0,
            );
            values.push(sum / heads.length);
          }
        }
      }
      const shape =
        where.head === "all" ? [map.heads, last - first, right - left] : [last - first, right - left];
      const data =
        as === "uint8"
          ? Uint8Array.from(values, (value) => Math.max(1, Math.round(255 * Math.sqrt(value))))
          : Float32Array.from(values);
      return frame({ weights: { shape, data } });
    },
    async statistics(place: Place) {
      const map = mapAt(place);
      const mass = Float32Array.from({ length: map.heads * map.keys }, (_, at) => {
        let sum = 0;
        for (let query = 0; query < map.queries; query++)
          sum += weightOf(map.place.layer, Math.floor(at / map.keys), query, at % map.keys, map.keys);
        return sum;
      });
      return frame({ mass: { shape: [map.heads, map.keys], data: mass } });
    },
    average: refuse,
  } as unknown as RecordingSource;
  return { source, asked };
}

/** A recording as the subject of a view. */
export function shown(now: RecordingSource): SubjectOf<"recording"> {
  return { kind: "recording", now };
}

// As the shell does when a view leaves: what a view asks again and again would run on into the clocks of later tests.
let ended = new AbortController();
afterEach(() => {
  ended.abort();
  ended = new AbortController();
});

/** A stage on an element of the document. */
export function setStage(
  source: RecordingSource,
  { map, ...change }: Partial<LinkedSelection> = {},
  rerunner: Rerunner | null = null,
) {
  const element = document.createElement("div");
  document.body.replaceChildren(element);
  const selection = createSelection({
    ...nothingSelected,
    recording: "invented",
    ...(map === undefined ? {} : { place: source.description.maps[map]!.place }),
    ...change,
  });
  const failures: unknown[] = [];
  const stage: Stage = {
    element,
    subject: shown(source),
    source,
    metrics: [],
    signal: ended.signal,
    text: (said) => formatText(said, "en", {}),
    selection,
    language: "en",
    theme: "light",
    reducedMotion: true,
    rerunner,
    announce: () => {},
    fail: (error) => failures.push(error),
  };
  return { stage, element, selection, failures };
}

/** The same stage for a view that needs nothing open. */
export function withoutSubject(stage: Stage): Stage<"none"> {
  return { ...stage, subject: { kind: "none" }, source: null };
}

/** Another language or theme, as the canvas tells a mounted view. */
export function restyle(
  mounted: Mounted,
  stage: Pick<Stage, "theme">,
  language: Language = "zh",
  theme: Theme = stage.theme,
): void {
  Object.assign(stage, { language, theme });
  mounted.restyle(language, theme);
}

/** The same view after a while on another tab. */
export function mountAgain<K extends SubjectKind>(view: View<K>, mounted: Mounted, stage: Stage<K>): Mounted {
  const kept = mounted.keep?.() ?? undefined;
  mounted.unmount();
  return view.mount({ ...stage, kept });
}

/** Let promises and animation frames come to an end. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 5; round++) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The likeliest outputs of each position, as the server describes them. */
export function outputOf(
  stack: string,
  kind: OutputDescription["kind"],
  positions: OutputDescription["positions"],
): OutputDescription {
  return { stack, kind, positions, last: positions.at(-1) ?? [], numbers: [] };
}
