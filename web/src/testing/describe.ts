/** Descriptions of invented recordings, for tests. */

import type { RecordingSource } from "../source";
import type { Description, MapDescription } from "../types";

export function aMap(part: Partial<MapDescription> & { readonly index: number }): MapDescription {
  return {
    name: `map ${part.index}`,
    stack: "encoder",
    layer: 0,
    kind: "self",
    step: null,
    heads: 4,
    queries: 6,
    keys: 6,
    query_side: "source",
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
    scale: 1 / Math.sqrt(8),
    relaxed: null,
    ...part,
  };
}

export function aDescription(maps: readonly MapDescription[], part: Partial<Description> = {}): Description {
  return {
    id: "invented",
    title: { en: "Invented", zh: "虚构" },
    model: "nobody",
    shape: "encoder-decoder",
    evidence: {
      model: "nobody",
      model_hash: "0",
      kernel: "eager",
      dtype: "float32",
      exact: true,
      largest_error: 0,
      reference: null,
      edits: [],
      versions: {},
      notes: [],
      line: "exact",
    },
    source: { side: "source", count: 6, text: "a b c d e f" },
    target: { side: "target", count: 9, text: "" },
    maps,
    hidden: [],
    output: null,
    generation: null,
    ...part,
  };
}

/** A source that knows its description and tokens, and nothing else. */
export function aSource(description: Description): RecordingSource {
  const refuse = () => Promise.reject(new Error("not invented"));
  return {
    description,
    tokens: async (side, range = [0, 3]) => {
      const count = range[1] - range[0];
      const texts = Array.from({ length: count }, (_, i) => `${side}${range[0] + i}`);
      return {
        side,
        start: range[0],
        texts,
        shown: texts,
        ids: texts.map(() => 0),
        special: texts.map(() => false),
        words: null,
        offsets: null,
      };
    },
    thumbnails: refuse,
    weights: refuse,
    scores: refuse,
    average: refuse,
    tile: refuse,
    statistics: refuse,
    vectors: refuse,
    hidden: refuse,
    activations: refuse,
    distribution: refuse,
    flow: refuse,
    score: refuse,
  } satisfies Partial<RecordingSource> as unknown as RecordingSource;
}
