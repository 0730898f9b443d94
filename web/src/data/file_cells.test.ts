import { describe, expect, test } from "vitest";
import { encodeFrame } from "../api/frame_writer";
import { decodeFrame } from "../api/frames";
import type { CellArithmetic, WalkStep } from "../api/types";
import { noParameters } from "../testing/walk";
import { type Answers, answerCell, chooseTerms } from "./file_cells";
import { erf, OPERATIONS } from "./file_operations";

const HERE = "recordings/r";
const NONE = Number.NEGATIVE_INFINITY;

type Held = Readonly<Record<string, readonly [shape: readonly number[], data: readonly number[]]>>;

function aStep(operation: string, inputs: string[], change: Partial<WalkStep>): WalkStep {
  return {
    id: "s",
    chapter: "c",
    stack: "decoder",
    layer: 0,
    kind: "self",
    operation: operation as WalkStep["operation"],
    inputs,
    output: "out",
    axes: ["source", "feature"],
    parameters: noParameters,
    numbers: {},
    words: {},
    shape: { inputs: [], output: [2, 2] },
    arithmetic: true,
    missing: null,
    ...change,
  };
}

/** Ask a file that holds one step and these arrays. */
async function ask(step: WalkStep, arrays: Held, query: string): Promise<CellArithmetic | null> {
  const held: Readonly<Record<string, unknown>> = {
    [`${HERE}/walk`]: { chapters: [{ steps: [step] }] },
    [HERE]: { output: { kind: "tokens", positions: [[{ token: 1, text: "one" }]] } },
    [`${HERE}/tokens/source`]: { shown: ["the", "␣cat"], ids: [7, 8] },
  };
  const answers: Answers = {
    json: async <T>(path: string) => (held[path] ?? null) as T | null,
    frame: async (path) => {
      const found = arrays[path.slice(`${HERE}/trace/`.length)];
      if (!found) return null;
      const [shape, list] = found;
      const data = new Float32Array(list);
      return decodeFrame(
        encodeFrame([{ name: "values", dtype: "float32", shape, scale: null, maximum: 1, data }], {}),
      );
    },
  };
  const bytes = await answerCell(HERE, "s", new URLSearchParams(query), answers);
  return bytes && (JSON.parse(new TextDecoder().decode(bytes)) as CellArithmetic);
}

const headed: Partial<WalkStep> = {
  axes: ["head", "source", "source"],
  shape: { inputs: [], output: [2, 2, 2] },
};
const square = [1, 2, 3, 4, 5, 6, 7, 8];

describe("cells of a file", () => {
  test("recurrent cells: what needs no weights is computed in the file, too", async () => {
    const arrays: Held = {
      z: [
        [2, 2],
        [0.25, 0.5, 0.75, 1],
      ],
      n: [
        [2, 2],
        [1, 2, 3, 4],
      ],
      h: [
        [2, 2],
        [-1, -2, -3, -4],
      ],
      start: [[2], [7, 8]],
      out: [
        [2, 2],
        [0.5, 0, -1.5, -4],
      ],
    };
    const blended = await ask(aStep("blend", ["z", "n", "h"], {}), arrays, "row=1&column=0");
    expect(blended).toMatchObject({ shown: 0.25 * 3 + 0.75 * -3, difference: 0 });
    const direction = (way: string) => ({ words: { direction: way } });
    const shifted = (inputs: string[], way: string, row: number) =>
      ask(aStep("before", inputs, direction(way)), arrays, `row=${row}&column=1`);
    expect((await shifted(["start", "h"], "forward", 0))!.shown).toBe(8);
    expect((await shifted(["start", "h"], "forward", 1))!.shown).toBe(-2);
    expect((await shifted(["h"], "backward", 0))!.shown).toBe(-4);
    expect((await shifted(["h"], "backward", 1))!.shown).toBe(0);
    const wide = { shape: { inputs: [], output: [2, 4] } } as Partial<WalkStep>;
    const joined = await ask(
      aStep("concat", ["z", "n"], wide),
      { ...arrays, out: [[2, 4], Array(8).fill(0)] },
      "row=1&column=2",
    );
    expect(joined!.shown).toBe(3);
  });

  test("a query with a key: their features, row and column", async () => {
    const arrays: Held = {
      q: [[2, 2, 2], square],
      k: [
        [1, 2, 2],
        [1, -1, 0.5, 2],
      ],
      out: [[2, 2, 2], square],
    };
    const cell = await ask(aStep("dot", ["q", "k"], headed), arrays, "row=1&column=1&head=1");
    expect(cell).toMatchObject({ head: 1, row: 1, column: 1, sum: 19.5, shown: 19.5, value: 8 });
    expect(cell!.terms.map(({ left, right, product }) => [left, right, product])).toEqual([
      [7, 0.5, 3.5],
      [8, 2, 16],
    ]);
    expect(cell!.reads).toEqual([
      { name: "q", head: 1, row: 1, column: null },
      { name: "k", head: 0, row: 1, column: null }, // heads share it
    ]);
    expect(cell!.difference).toBe(11.5);
  });

  test("a hidden score has no number, and no weight", async () => {
    const scores: Held = {
      in: [[2, 2, 2], square],
      out: [
        [2, 2, 2],
        [1, NONE, 3, 4, 5, NONE, 7, 8],
      ],
    };
    const cell = await ask(aStep("mask", ["in"], headed), scores, "row=0&column=1");
    expect(cell).toMatchObject({
      shown: null,
      value: null,
      difference: 0,
      numbers: { input: 2, allowed: 0 },
    });
    const soft: Held = {
      in: scores.out!,
      out: [
        [2, 2, 2],
        [1, 0, 0, 0, 0, 0, 0, 0],
      ],
    };
    const weight = await ask(aStep("softmax", ["in"], headed), soft, "row=0&column=1");
    expect(weight).toMatchObject({ shown: 0, sum: 1, numbers: { score: null, highest: 1, power: 0 } });
    expect(weight!.terms.map((term) => term.label)).toEqual(["the", "␣cat"]);
  });

  test("hard attention: of equal scores the one that the network took", async () => {
    const arrays: Held = {
      in: [
        [1, 1, 2],
        [3, 3],
      ],
      out: [
        [1, 1, 2],
        [0, 1],
      ],
    };
    const change = { ...headed, shape: { inputs: [], output: [1, 1, 2] }, numbers: { best_keys: 1 } };
    expect((await ask(aStep("softmax", ["in"], change), arrays, "column=1"))!.shown).toBe(1);
  });

  test("words of a vocabulary are named where the recording names them", async () => {
    const arrays: Held = { in: [[1, 9], new Array(9).fill(0)], out: [[1, 9], new Array(9).fill(1 / 9)] };
    const change: Partial<WalkStep> = {
      axes: ["source", "vocabulary"],
      shape: { inputs: [], output: [1, 9] },
    };
    const cell = await ask(aStep("softmax", ["in"], change), arrays, "");
    expect(cell!.terms.map((term) => term.label)).toEqual([
      "0",
      "one",
      "2",
      "3",
      "4",
      "5",
      "6",
      "the",
      "␣cat",
    ]);
  });

  test("values are mixed down a column, and heads stand side by side", async () => {
    const arrays: Held = { w: [[2, 2, 2], square], v: [[2, 2, 2], square], out: [[2, 2, 2], square] };
    const mixed = await ask(aStep("mix", ["w", "v"], headed), arrays, "row=0&column=1&head=1");
    expect(mixed!.terms.map(({ label, product }) => [label, product])).toEqual([
      ["the", 30],
      ["␣cat", 48],
    ]);
    const flat: Held = { in: arrays.v!, out: [[2, 4], square] };
    const change = { shape: { inputs: [], output: [2, 4] } };
    const joined = await ask(aStep("join", ["in"], change), flat, "row=1&column=2");
    expect(joined).toMatchObject({ shown: 7, numbers: { head: 1 } });
    expect(joined!.reads).toEqual([{ name: "in", head: 1, row: 1, column: 0 }]);
  });

  test("a norm needs its gain and its shift", async () => {
    const parameters = { ...noParameters, weight: "g", bias: "b" };
    const step = aStep("norm", ["in"], { parameters, numbers: { epsilon: 0 } });
    const arrays: Held = {
      in: [
        [2, 2],
        [1, 3, 5, 9],
      ],
      out: [
        [2, 2],
        [0, 0, 0, 0],
      ],
    };
    expect(await ask(step, arrays, "row=1")).toBeNull();
    const whole: Held = { ...arrays, g: [[2], [2, 3]], b: [[2], [0.5, -1]] };
    const cell = await ask(step, whole, "row=1&column=1");
    expect(cell!.numbers).toEqual({ input: 9, mean: 7, variance: 4, deviation: 2, standard: 1, gain: 3 });
    expect(cell).toMatchObject({ shown: 2, bias: -1, sum: 3 });
  });

  test("what is beyond the array, unknown, or made of weights is not answered", async () => {
    const arrays: Held = {
      in: [
        [2, 2],
        [1, 2, 3, 4],
      ],
      out: [
        [2, 2],
        [1, 2, 3, 4],
      ],
    };
    const step = aStep("scale", ["in"], { numbers: { factor: 2 } });
    expect((await ask(step, arrays, "row=1&column=1"))!.shown).toBe(8);
    for (const query of ["row=2", "column=2", "row=-1", "row=x"])
      expect(await ask(step, arrays, query)).toBeNull();
    expect(await ask({ ...step, id: "other" }, arrays, "")).toBeNull();
    expect(await ask({ ...step, arithmetic: false }, arrays, "")).toBeNull();
    expect(await ask({ ...step, operation: "product" }, arrays, "")).toBeNull();
  });

  test("many terms are summed up: the largest of each part are sent", () => {
    const left = Array.from({ length: 1000 }, (_, at) => at % 7);
    const { terms, left_out, rest } = chooseTerms({ result: 0, left, right: left.map(() => 1) });
    expect(terms.length).toBeGreaterThanOrEqual(250);
    expect(terms.length + left_out).toBe(1000);
    expect(terms.filter((term) => term.large).length).toBe(8);
    const all = left.reduce((sum, value) => sum + value, 0);
    expect(terms.reduce((sum, term) => sum + term.product!, rest)).toBe(all);
  });

  test("the error function has all its digits", () => {
    // From tables: Python's math.erf has the same.
    for (const [x, value] of [
      [0, 0],
      [0.5, 0.5204998778130465],
      [1, 0.8427007929497149],
      [2.5, 0.999593047982555],
      [5, 0.9999999999984626],
      [40, 1],
    ] as const) {
      expect(erf(x)).toBeCloseTo(value, 14);
      expect(erf(-x)).toBeCloseTo(-value, 14);
    }
    expect([erf(Number.NaN), erf(NONE)]).toEqual([Number.NaN, -1]); // and comes to an end
    expect(Object.keys(OPERATIONS)).not.toContain("product");
  });

  test("scores that were scaled, capped and masked in one step have all of it", async () => {
    const pair: Held = {
      queries: [
        [1, 2, 2],
        [1, 2, 3, 4],
      ],
      keys: [
        [1, 2, 2],
        [1, 0, 2, 1],
      ],
      out: [
        [1, 2, 2],
        [0.5, NONE, 1.5, 5],
      ],
    };
    const change = { axes: headed.axes!, shape: { inputs: [], output: [1, 2, 2] } };
    const step = aStep("dot", ["queries", "keys"], { ...change, numbers: { scale: 0.5 } });
    const plain = await ask(step, pair, "row=1&column=1&head=0");
    expect(plain).toMatchObject({ sum: 10, shown: 5, value: 5, difference: 0 });
    expect(plain!.numbers).toEqual({ scale: 0.5, allowed: 1 });
    const hidden = await ask(step, pair, "row=0&column=1&head=0");
    expect(hidden).toMatchObject({
      sum: 4,
      shown: null,
      value: null,
      difference: 0,
      numbers: { allowed: 0 },
    });
    const capped = await ask({ ...step, numbers: { scale: 0.5, cap: 2 } }, pair, "row=1&column=1&head=0");
    expect(capped!.shown).toBeCloseTo(2 * Math.tanh(2.5), 12);
    expect(capped!.numbers).toEqual({ scale: 0.5, cap: 2, allowed: 1 });
  });
});
