/**
 * A tiny decoder, computed: one layer of one head, so that a walk's numbers can be checked by hand.
 *
 * In:   nothing.
 * Out:  a plan, the arrays that it names, and a RecordingSource that answers from them.
 */

import type { Frame } from "../api/frames";
import type { CellArithmetic, Description, WalkPlan, WalkStep } from "../api/types";
import type { RecordingSource } from "../core/source";
import { frame, invent, makeMap, said } from "./recording";

type Table = readonly (readonly number[])[];

export const tokens = ["Once", " upon", " a"];
const X: Table = [
  [1, 0.5, -1, 2],
  [0, 1, 0.25, -0.5],
  [0.5, -1, 1, 0],
];
/** (output, input), as linear layers keep them: queries, keys, values of two heads, one below the other. */
export const QKV: Table = Array.from({ length: 12 }, (_, row) =>
  Array.from({ length: 4 }, (_, column) => ((row * 3 + column * 5) % 7) / 4 - 0.75),
);
const BIAS = Array.from({ length: 12 }, (_, at) => at / 10);

function project(part: number, head: number): number[][] {
  return X.map((row) =>
    [0, 1].map((column) => {
      const at = part * 4 + head * 2 + column;
      return row.reduce((sum, value, place) => sum + value * QKV[at]![place]!, BIAS[at]!);
    }),
  );
}

export const noParameters: WalkStep["parameters"] = {
  weight: null,
  bias: null,
  columns: null,
  transposed: false,
  mean: null,
  variance: null,
  key_weight: null,
  key_bias: null,
  vector: null,
};

export const arrays: Readonly<Record<string, readonly Table[]>> = {
  "decoder/embedding/tokens": [X],
  "decoder/0/self/queries": [project(0, 0), project(0, 1)],
  "decoder/0/self/keys": [project(1, 0), project(1, 1)],
  "decoder/0/self/values": [project(2, 0), project(2, 1)],
  "parameters/qkv.weight": [QKV],
  "parameters/qkv.bias": [[BIAS]],
  get "decoder/0/self/products"() {
    return [0, 1].map((head) =>
      project(0, head).map((query) =>
        project(1, head).map((key) => query.reduce((sum, value, at) => sum + value * key[at]!, 0)),
      ),
    );
  },
  get "decoder/0/self/scores"() {
    return this["decoder/0/self/products"]!.map((table) =>
      table.map((row, query) => row.map((value, key) => (key > query ? Number.NEGATIVE_INFINITY : value))),
    );
  },
  get "decoder/0/self/weights"() {
    return this["decoder/0/self/scores"]!.map((table) =>
      table.map((row) => {
        const powers = row.map((value) => Math.exp(value - Math.max(...row)));
        const sum = powers.reduce((total, value) => total + value, 0);
        return powers.map((value) => value / sum);
      }),
    );
  },
};

function step(id: string, operation: string, inputs: string[], change: Partial<WalkStep> = {}): WalkStep {
  const layered = id.startsWith("decoder.0.");
  const output = id.replaceAll(".", "/");
  const shapeOf = (name: string): number[] => {
    const tables = arrays[name]!;
    const two = [tables[0]!.length, tables[0]![0]!.length];
    return tables.length > 1 ? [tables.length, ...two] : two;
  };
  const known = arrays[output] !== undefined;
  return {
    id,
    chapter: layered ? "decoder.0.self" : "decoder.embedding",
    stack: "decoder",
    layer: layered ? 0 : null,
    kind: layered ? "self" : "embedding",
    operation: operation as WalkStep["operation"],
    inputs,
    output,
    axes: known && arrays[output]!.length > 1 ? ["head", "source", "feature"] : ["source", "feature"],
    parameters: noParameters,
    numbers: {},
    words: {},
    shape: {
      inputs: inputs.map((name) => (arrays[name] ? shapeOf(name) : [3])),
      output: known ? shapeOf(output) : null,
    },
    arithmetic: known,
    missing: known ? null : said("It was not kept."),
    ...change,
  };
}

const place = "decoder/0/self";
const fused = (part: number) => ({
  ...noParameters,
  weight: "parameters/qkv.weight",
  bias: "parameters/qkv.bias",
  columns: [part * 4, part * 4 + 4] as const,
  transposed: true,
});
const square = { axes: ["head", "source", "source"] as const };

export const plan: WalkPlan = {
  model: "tiny",
  more: false,
  shape: "decoder",
  ours: true,
  recurrent: false,
  norm_position: "post",
  architecture: { width: 4 },
  traced: true,
  parameters: true,
  stacks: [
    {
      stack: "decoder",
      side: "source",
      tokens: 3,
      layers: 1,
      heads: 2,
      width: 4,
      causal: true,
      shared: false,
    },
  ],
  chapters: [
    {
      id: "decoder.embedding",
      kind: "embedding",
      stack: "decoder",
      layer: null,
      steps: [step("decoder.embedding.tokens", "lookup", ["decoder/ids"])],
    },
    {
      id: "decoder.0.self",
      kind: "self",
      stack: "decoder",
      layer: 0,
      steps: [
        step("decoder.0.self.queries", "product", ["decoder/embedding/tokens"], { parameters: fused(0) }),
        step("decoder.0.self.keys", "product", ["decoder/embedding/tokens"], { parameters: fused(1) }),
        step("decoder.0.self.values", "product", ["decoder/embedding/tokens"], { parameters: fused(2) }),
        step("decoder.0.self.products", "dot", [`${place}/queries`, `${place}/keys`], square),
        step("decoder.0.self.scores", "mask", [`${place}/products`], square),
        step("decoder.0.self.weights", "softmax", [`${place}/scores`], square),
        step("decoder.0.self.mixed", "mix", [`${place}/weights`, `${place}/values`]),
      ],
    },
  ],
  diagram: {
    blocks: [
      {
        id: "decoder.embedding.text",
        kind: "tokens",
        stack: "decoder",
        layer: null,
        chapter: "decoder.embedding",
        step: "decoder.embedding.tokens",
        causal: false,
      },
      {
        id: "decoder.embedding.block",
        kind: "embedding",
        stack: "decoder",
        layer: null,
        chapter: "decoder.embedding",
        step: "decoder.embedding.tokens",
        causal: false,
      },
      {
        id: "decoder.0.self.block",
        kind: "attention",
        stack: "decoder",
        layer: 0,
        chapter: "decoder.0.self",
        step: "decoder.0.self.queries",
        causal: true,
      },
    ],
    arrows: [
      { start: "decoder.embedding.text", end: "decoder.embedding.block", kind: "stream" },
      { start: "decoder.embedding.block", end: "decoder.0.self.block", kind: "stream" },
    ],
  },
  notes: [],
};

/** The source of that decoder; `asked` says which arrays and cells were asked for. */
export function inventWalk(
  change: Partial<WalkPlan> = {},
  description: Partial<Description> = {},
): { source: RecordingSource; asked: string[] } {
  const map = makeMap(0, { queries: 3, heads: 2, causal: true });
  const hidden = [{ stack: "decoder", side: "source" as const, layers: 2, tokens: 3, width: 4 }];
  const { source, asked } = invent({
    source: tokens,
    layers: 1,
    change: { maps: [map], hidden, ...description },
  });
  const answers = {
    walk: async () => ({ ...plan, ...change }),
    activations: async () =>
      frame({ activations: { shape: [2, 3], data: Float32Array.of(1, 2, 3, 2, 2, 2) } }),
    thumbnails: async () =>
      frame({
        [map.place.address]: { shape: [2, 3, 3], data: Uint8Array.from({ length: 18 }, (_, at) => at) },
      }),
    async trace(
      name: string,
      where: { head?: number; rows?: readonly [number, number]; columns?: readonly [number, number] } = {},
    ): Promise<Frame> {
      asked.push(`trace ${name} ${where.head ?? ""} ${where.rows ?? ""} ${where.columns ?? ""}`.trim());
      const table = arrays[name]![where.head ?? 0]!.slice(...(where.rows ?? [])).map((row) =>
        row.slice(...(where.columns ?? [])),
      );
      return frame({
        values: { shape: [table.length, table[0]!.length], data: Float32Array.from(table.flat()) },
      });
    },
    async cell(id: string, where: { row: number; column: number; head?: number }): Promise<CellArithmetic> {
      asked.push(`cell ${id} ${where.row} ${where.column} ${where.head ?? ""}`.trim());
      const value = arrays[id.replaceAll(".", "/")]![where.head ?? 0]![where.row]![where.column]!;
      return {
        step: id,
        operation: "product",
        head: where.head ?? null,
        ...where,
        terms: [{ index: 0, label: "first", left: 2, right: -3, product: -6, large: true }],
        left_out: 0,
        rest: 0,
        bias: 0.5,
        numbers: {},
        sum: -6,
        value,
        shown: value,
        difference: 0,
        reads: [],
      } as CellArithmetic;
    },
  };
  const walked: RecordingSource = { ...source, ...answers, within: () => walked };
  return { source: walked, asked };
}
