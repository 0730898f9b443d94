/**
 * The arrays of one step, ready to be drawn: inputs, learned parameters, the result.
 *
 * In:   a step and a head.
 * Out:  panels with symbols, numbers and names; of a vocabulary only the words that matter at one position.
 */

import type { WalkAxis, WalkStep } from "../../api/types";
import { count } from "../../core/formats";
import { Refusal } from "../../core/source";
import { headColour } from "../../marks/colours";
import { headOf, rowOf, type WalkContext } from "./context";
import { lastWord } from "./script";
import { type Grid, grid, type Naming, readGrid } from "./values";

export interface Panel {
  readonly name: string; // of the array
  readonly symbol: string;
  readonly role: "input" | "parameter" | "result";
  readonly grid: Grid;
  readonly turned: boolean; // rows are drawn as columns
  readonly first: number; // the array's row (column, if turned) that is drawn first
  readonly shape: readonly number[]; // of what the formula means; a vocabulary is shown in part
  readonly whole: string; // the shape of all of it, where a part is shown
  readonly bands?: readonly { from: number; to: number; colour: string; text: string }[];
}

export interface Loaded {
  readonly panels: readonly Panel[]; // inputs and parameters in the order of the formula, then the result
  readonly result: Panel;
  readonly bias: Panel | null;
  /** The column of the array that a drawn column of the result is. */
  column(drawn: number): number;
  drawn(column: number): number; // −1: not shown
}

const WORDS = 10; // of a vocabulary
const SYMBOLS: Readonly<Record<string, string>> = {
  tokens: "E",
  positions: "P",
  segments: "G",
  sum: "X′",
  normed: "X̂",
  norm: "X̂",
  final: "X̂",
  queries: "Q",
  keys: "K",
  values: "V",
  queries_turned: "Q′",
  keys_turned: "K′",
  products: "QKᵀ",
  biased: "S",
  position_bias: "B",
  scores: "S",
  weights: "A",
  mixed: "Z",
  joined: "Z",
  output: "Y",
  inner: "H",
  active: "f(H)",
  logits: "logits",
  probabilities: "p",
  likeliest: "word",
  pooled: "x",
  classes: "c",
};
const LEARNED: Readonly<Record<string, string>> = {
  queries: "W_Q",
  keys: "W_K",
  values: "W_V",
  inner: "W_1",
  logits: "Eᵀ",
};

/** A letter for an array; what follows an underscore is set lower. */
export function symbolOf(name: string, head: number | null, mark = ""): string {
  const word = lastWord(name);
  const embedding = name.includes("/embedding/");
  const scaled = embedding ? "√d E" : "S";
  const base = word === "scaled" ? scaled : embedding && word === "sum" ? "X" : (SYMBOLS[word] ?? "X");
  return head === null ? base + mark : `${base}${mark}_${head}`;
}

export function weightSymbol(step: WalkStep): string {
  const word = lastWord(step.output);
  if (word === "output") return step.kind === "feed_forward" ? "W_2" : "W_O";
  return LEARNED[word] ?? "W";
}

/** Names for an axis. */
export function namesOf(context: WalkContext, axis: WalkAxis | undefined): Naming | null {
  if (axis !== "source" && axis !== "target") return null;
  const shown = context.tokens[axis]?.shown;
  return (at) => shown?.[at] ?? String(at);
}

/** The axes of an input that a step reads as rows: those of the queries, or of the keys. */
function rowAxis(step: WalkStep, place: number): WalkAxis | undefined {
  const axes = step.axes.filter((axis) => axis !== "head");
  if (
    (step.operation === "dot" ||
      step.operation === "cosine" ||
      step.operation === "bilinear" ||
      step.operation === "additive") &&
    place === 1
  )
    return axes[1];
  if (step.operation === "mix" && place === 1) return undefined; // its rows are the keys: see load
  return axes.length > 1 ? axes[0] : undefined;
}

/** The head of an array that several heads may share. */
function shared(shape: readonly number[], head: number, heads: number): number {
  const own = shape[0] ?? 1;
  return own >= heads ? Math.min(head, own - 1) : Math.floor(head / Math.max(1, Math.floor(heads / own)));
}

export async function load(context: WalkContext, step: WalkStep, signal: AbortSignal): Promise<Loaded> {
  const vocabulary = step.axes.at(-1) === "vocabulary";
  const words = vocabulary ? await likely(context, step, signal) : null;
  const [inputs, learned, made] = await Promise.all([
    Promise.all(step.inputs.map((name, place) => loadInput(context, step, name, place, words, signal))),
    step.operation === "product" ? findWeight(context, step, words, signal) : null,
    loadResult(context, step, words, signal),
  ]);
  const result = { ...made, symbol: freshen(made.symbol, inputs) };
  const before = [...inputs, learned?.weight ?? null].filter((panel) => panel !== null);
  return {
    panels: [...before, result],
    result,
    bias: learned?.bias ?? null,
    column: (drawn) => words?.ids[drawn] ?? drawn,
    drawn: (column) => (words === null ? column : words.ids.indexOf(column)),
  };
}

/** A letter that no input has: other numbers are not called the same. */
function freshen(symbol: string, inputs: readonly (Panel | null)[]): string {
  const [base = "", below] = symbol.split("_");
  const taken = inputs.some((panel) => panel?.symbol === symbol);
  return taken ? freshen(`${base}′${below === undefined ? "" : `_${below}`}`, inputs) : symbol;
}

interface Likely {
  readonly ids: readonly number[];
  readonly names: readonly string[];
}

/** The words that come first at the position in focus. */
async function likely(context: WalkContext, step: WalkStep, signal: AbortSignal): Promise<Likely> {
  const rows = step.shape.output?.[0] ?? 1;
  const row = rowOf(context, rows, true);
  const known = context.source.description.output?.positions[row] ?? [];
  const all = readGrid(await context.source.trace("output/logits", {}, signal)); // the step reads all of them anyway
  const values = all.values.subarray(row * all.columns, (row + 1) * all.columns);
  const ids = Array.from(values.keys())
    .sort((one, other) => values[other]! - values[one]!)
    .slice(0, WORDS);
  const text = new Map(known.map((choice) => [choice.token, choice.text]));
  return { ids, names: ids.map((id) => text.get(id) ?? `#${id}`) };
}

function pickColumns(
  table: { rows: number; columns: number; values: Float32Array },
  ids: readonly number[],
): { rows: number; columns: number; values: Float32Array } {
  const values = new Float32Array(table.rows * ids.length);
  for (let row = 0; row < table.rows; row++)
    ids.forEach((id, at) => {
      values[row * ids.length + at] = table.values[row * table.columns + id]!;
    });
  return { rows: table.rows, columns: ids.length, values };
}

const SHARES = new Set(["weights", "probabilities"]);

async function loadInput(
  context: WalkContext,
  step: WalkStep,
  name: string,
  place: number,
  words: Likely | null,
  signal: AbortSignal,
): Promise<Panel | null> {
  const shape = step.shape.inputs[place];
  if (!shape || name.endsWith("/ids")) return null;
  const heads =
    shape.length === 3 ? (step.axes[0] === "head" ? (step.shape.output?.[0] ?? 1) : shape[0]!) : 0;
  const head = heads > 0 ? shared(shape, headOf(context.stage), heads) : null;
  const frame = await context.source.trace(name, head === null ? {} : { head }, signal);
  const comparing = ["dot", "cosine", "bilinear", "additive"].includes(step.operation) && place === 1;
  let table = readGrid(frame, comparing);
  const last = lastWord(name);
  const square = last === "scaled" && step.kind !== "embedding";
  const keyed = square || ["products", "biased", "scores", "weights"].includes(last);
  const keys: WalkAxis | undefined =
    step.kind === "cross" ? "source" : step.axes.find((axis) => axis === "source" || axis === "target");
  if (words !== null && table.columns === (step.shape.output?.at(-1) ?? 0))
    table = pickColumns(table, words.ids);
  const rows = step.operation === "mix" && place === 1 ? keys : rowAxis(step, place);
  const rowNames = table.rows === 1 && shape.length < 2 ? null : namesOf(context, rows);
  const columnNames = keyed
    ? namesOf(context, keys)
    : words !== null && table.columns === words.ids.length
      ? (at: number) => words.names[at]!
      : null;
  return {
    name,
    symbol: symbolOf(name, heads > 0 ? head : null, comparing ? "ᵀ" : ""),
    role: "input",
    grid: grid(
      table,
      comparing ? { column: rowNames } : { row: rowNames, column: columnNames, share: SHARES.has(last) },
    ),
    turned: comparing,
    first: 0,
    shape: comparing ? [table.rows, table.columns] : [table.rows, shape.at(-1) ?? table.columns],
    whole: shape.length === 3 ? shape.map(count).join(" × ") : "",
  };
}

/** What is learned, where the host has it: an exported file does not. */
async function findWeight(
  context: WalkContext,
  step: WalkStep,
  words: Likely | null,
  signal: AbortSignal,
): Promise<{ weight: Panel; bias: Panel | null } | null> {
  try {
    return await loadWeight(context, step, words, signal);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

async function loadWeight(
  context: WalkContext,
  step: WalkStep,
  words: Likely | null,
  signal: AbortSignal,
): Promise<{ weight: Panel; bias: Panel | null } | null> {
  const { weight, bias, columns, transposed } = step.parameters;
  if (!weight || !context.plan.parameters) return null;
  const { source } = context;
  const out = step.shape.output ?? [];
  const width = out.at(-1) ?? 0;
  const first = (columns?.[0] ?? 0) + (out.length === 3 ? headOf(context.stage) * width : 0);
  const range = [first, first + width] as const;
  let table: { rows: number; columns: number; values: Float32Array };
  let shift: { rows: number; columns: number; values: Float32Array } | null = null;
  if (words !== null) {
    const rows = await Promise.all(
      words.ids.map(
        async (id) => readGrid(await source.trace(weight, { rows: [id, id + 1] }, signal)).values,
      ),
    );
    const size = rows[0]?.length ?? 0;
    const values = new Float32Array(size * rows.length);
    rows.forEach((row, at) => {
      for (let feature = 0; feature < size; feature++) values[feature * rows.length + at] = row[feature]!;
    });
    table = { rows: size, columns: rows.length, values };
    if (bias) shift = pickColumns(readGrid(await source.trace(bias, {}, signal)), words.ids);
  } else {
    const part = transposed === true ? { rows: range } : { columns: range };
    const [frame, biases] = await Promise.all([
      source.trace(weight, part, signal),
      bias ? source.trace(bias, { columns: range }, signal) : null,
    ]);
    table = readGrid(frame, transposed === true);
    if (biases !== null) shift = readGrid(biases);
  }
  const panel = (name: string, symbol: string, values: typeof table, turned: boolean): Panel => ({
    name,
    symbol,
    role: "parameter",
    grid: grid(values, words === null || values.rows === 1 ? {} : { column: (at) => words.names[at]! }),
    turned,
    first: words === null ? first : 0,
    shape: [values.rows, width],
    whole: "",
  });
  return {
    weight: panel(weight, weightSymbol(step), table, transposed === true),
    bias: shift === null ? null : panel(bias!, "b", shift, false),
  };
}

async function loadResult(
  context: WalkContext,
  step: WalkStep,
  words: Likely | null,
  signal: AbortSignal,
): Promise<Panel> {
  const { stage, source } = context;
  const shape = step.shape.output ?? [];
  const headed = shape.length === 3;
  const head = headed ? shared(shape, headOf(stage), shape[0]!) : null;
  let table = readGrid(await source.trace(step.output, head === null ? {} : { head }, signal));
  if (words !== null) table = pickColumns(table, words.ids);
  const axes = step.axes.filter((axis) => axis !== "head");
  const column =
    words !== null
      ? (at: number) => words.names[at]!
      : axes.at(-1) === "class"
        ? className(context)
        : axes.length > 1
          ? namesOf(context, axes[1])
          : null;
  const last = lastWord(step.output);
  const names = axes.length > 1 ? namesOf(context, axes[0]) : null;
  const ids = axes[0] === "source" || axes[0] === "target" ? context.tokens[axes[0]]?.ids : undefined;
  const looked = step.operation === "lookup" && step.inputs[0]?.endsWith("/ids") === true;
  const panel: Panel = {
    name: step.output,
    symbol: symbolOf(step.output, head),
    role: "result",
    grid: grid(table, {
      row: looked && names !== null ? (at) => `${ids?.[at] ?? ""} ${names(at)}` : names,
      column,
      share: SHARES.has(last),
    }),
    turned: false,
    first: 0,
    shape: [table.rows, shape.at(-1) ?? table.columns],
    whole: headed ? shape.map(count).join(" × ") : "",
  };
  const before = step.shape.inputs[0];
  if (step.operation !== "join" || before?.length !== 3) return panel;
  const [heads = 1, , width = 1] = before;
  const bands = Array.from({ length: heads }, (_, each) => ({
    from: each * width,
    to: (each + 1) * width,
    colour: headColour(each, stage.theme),
    text: context.say.headBand(each),
  }));
  return { ...panel, bands };
}

function className(context: WalkContext): Naming {
  const known = new Map(
    (context.source.description.output?.positions[0] ?? []).map((each) => [each.token, each.text]),
  );
  return (at) => known.get(at) ?? String(at);
}
