/** An invented atlas: two layers of two heads; head 0 looks at the previous token, head 1 of layer 1 at objects. */

import type { AtlasDescription, AtlasHead } from "../api/types";
import type { StudySource } from "../core/source";
import { frame, invent, said } from "./recording";

const around = (mean: number) => ({ mean, low: mean - 0.02, high: mean + 0.02 });

function aHead(layer: number, head: number, type: string | null, change: Partial<AtlasHead> = {}): AtlasHead {
  const score = (name: string) => ({
    ...around(name === type ? 0.8 - layer / 10 : 0.1),
    null: 0.05,
    null_high: 0.08,
    texts: 9,
    p: name === type ? 0.001 : 0.7,
  });
  return {
    place: `decoder.self.${layer}`,
    head,
    type,
    types: type === null ? [] : [type],
    scores: { previous_token: score("previous_token"), "dependent:obj": score("dependent:obj") },
    measures: { entropy: around(0.5), first_token: null },
    by_position: {
      entropy: [0.5, null],
      edges: [0, 8, 16],
      distance: [2.5, null],
      first_token: [0.2, null],
      self_token: [],
    },
    cluster: head,
    point: [layer, head],
    cost: { ...around(0.1 * layer), texts: 5 },
    examples: [{ bundle: 0, query: 2, key: 1, detector: type, value: 0.9 }],
    ...change,
  };
}

function aDetector(name: string, terms: readonly string[], baseline: number | null = null) {
  const [family = "", detail = null] = name.split(":");
  return {
    name,
    family,
    detail,
    threshold: 0.2,
    null: "shuffled" as const,
    baseline,
    offset: baseline === null ? null : -1,
    applies: ["decoder.self"],
    texts: 9,
    title: said(name === "dependent:obj" ? "looks at objects" : "previous token"),
    about: said(`About ${name}.`),
    terms,
    colour: detail === null ? 0 : 2,
  };
}

export function anAtlas(id = "one", heads?: readonly AtlasHead[]): AtlasDescription {
  const cards = heads ?? [
    aHead(0, 0, "previous_token"),
    aHead(0, 1, null, { cost: null, examples: [] }),
    aHead(1, 0, "previous_token"),
    aHead(1, 1, "dependent:obj"),
  ];
  return {
    entry: {
      id,
      shipped: false,
      model: { name: `model ${id}`, identity: id },
      corpus: { name: "texts", texts: 9, tokens: 99, skipped: 0, null: "shuffled words" },
      heads: cards.length,
      named: cards.filter(({ type }) => type !== null).length,
    },
    places: [0, 1].map((layer) => ({ place: `decoder.self.${layer}`, heads: 2 })),
    detectors: [
      aDetector("previous_token", ["previous_token", " previous ", "前一个"]),
      aDetector("dependent:obj", [" object ", " object of a verb ", " verb ", "宾语"], 0.3),
    ],
    heads: cards,
    clusters: [],
    notes: [said("A note.")],
    examples: { "0": "one:example:0" },
  };
}

/** A source of it; the atlas beside it differs in the type of its last head. */
export function inventStudy(atlas = anAtlas()): StudySource {
  const other = anAtlas("two", [...atlas.heads.slice(0, -1), aHead(1, 1, null)]);
  const cells = { shape: [2, 3, 3], data: Float32Array.from({ length: 18 }, (_, at) => at / 18) };
  const pictures = frame({ "decoder.self.0": cells, "decoder.self.1": cells });
  const study: StudySource = {
    atlas,
    within: () => study,
    example: async () => ({ ...invent().source, thumbnails: async () => pictures }),
    others: async () => [other.entry],
    beside: async () => ({
      atlas: other,
      pairs: {
        first: atlas.entry,
        second: other.entry,
        same_architecture: true,
        changed: 1,
        pairs: atlas.heads.map((first, at) => ({
          first,
          second: other.heads[at]!,
          distance: at / 10,
          changes: at === 3 ? [{ detector: "dependent:obj", first: 0.7, second: 0.1 }] : [],
        })),
      },
    }),
  };
  return study;
}
