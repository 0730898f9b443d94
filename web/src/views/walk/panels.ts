/**
 * The arrays of one step, ready to be drawn: inputs, learned parameters, the result.
 *
 * In:   a step and a head.
 * Out:  panels with symbols, numbers and names; of a vocabulary only the words that matter at one position.
 */

import type { SideName, TextSide, WalkAxis, WalkStep } from "../../api/types";
import { count, fixed } from "../../core/formats";
import { readingOf } from "../../core/reading";
import { isTurned, readStep, type StepArrays, type Table } from "../../data/walk_arrays";
import { headColour } from "../../marks/colours";
import { headOf, rowOf, type WalkContext } from "./context";
import { letterOf, weightLetter } from "./letters";
import type { Band } from "./look";
import { lastWord, sideOf } from "./script";
import { type Grid, grid, type Naming } from "./values";

export interface Panel {
  readonly name: string; // of the array
  readonly symbol: string;
  readonly role: "input" | "parameter" | "result";
  readonly grid: Grid;
  readonly turned: boolean; // rows are drawn as columns
  readonly first: number; // the array's row (column, if turned) that is drawn first
  readonly shape: readonly number[]; // of what the formula means; a vocabulary is shown in part
  readonly whole: string; // the shape of all of it, where a part is shown
  readonly bands?: readonly Band[];
}

export interface Loaded {
  readonly panels: readonly Panel[]; // inputs and parameters in the order of the formula, then the result
  readonly result: Panel;
  readonly bias: Panel | null;
  /** The column of the array that a drawn column of the result is. */
  column(drawn: number): number;
  drawn(column: number): number; // −1: not shown
}

function isPart(axis: WalkAxis | SideName | undefined): axis is Exclude<SideName, TextSide> {
  return axis === "part" || axis === "part2" || axis === "part3";
}

/** Names for an axis of a step that has so many rows. */
function namesOf(
  context: WalkContext,
  { kind, stack }: WalkStep,
  axis: WalkAxis | SideName | undefined,
  rows: number,
  written = false,
): Naming | null {
  if (axis === "patch") {
    const shown = context.tokens.source?.shown ?? [];
    return (at) => shown[shown.length - rows + at] ?? String(at); // a class token comes first
  }
  if (axis === "column") {
    const { hop, sample_rate, frame_stride } = context.plan.architecture ?? {};
    const samples = (context.tokens.source?.shown.length ?? 0) * Number(hop) * Number(frame_stride);
    return (at) => `${fixed(((at + 0.5) * samples) / rows / Number(sample_rate), 3)} s`;
  }
  if (axis !== "source" && axis !== "target" && !isPart(axis)) return null;
  const own = kind === "cross" ? axis : sideOf(stack, context.source.description);
  const side = isPart(own) ? own : axis; // the plan names texts only
  const shown = context.tokens[side === "target" && written ? "written" : side]?.shown;
  return (at) => shown?.[at] ?? String(at);
}

/** Whether rows of the decoder have the name of the word that they write: in cross-attention, as in all views. */
export function isNamedByWritten({ stage, tokens }: WalkContext, { kind }: WalkStep): boolean {
  return kind === "cross" && tokens.written !== null && readingOf(stage.selection.get()) === "written";
}

const ROWS: Readonly<Record<string, WalkAxis>> = {
  cut: "pixel",
  prepend: "patch",
  mel: "column",
  convolve: "column",
};
const SHARES = new Set(["weights", "probabilities"]);
const KEYED = new Set(["products", "biased", "scores", "weights"]); // arrays whose columns are keys

export async function load(context: WalkContext, step: WalkStep, signal: AbortSignal): Promise<Loaded> {
  const { source, plan, stage } = context;
  const row = rowOf(context, step.shape.output?.[0] ?? 1, true);
  const arrays = await readStep(source, plan, step, { head: headOf(stage), row }, signal);
  const { words } = arrays;
  const said = new Map(
    (source.description.output?.positions[row] ?? []).map((each) => [each.token, each.text]),
  );
  const wordName: Naming | null = words && ((at) => said.get(words[at]!) ?? `#${words[at]}`);
  const inputs = step.inputs.flatMap((_, at) => inputPanel(context, step, arrays, at, wordName) ?? []);
  const result = resultPanel(context, step, arrays, wordName);
  const learned = (table: Table | null, name: string | null, symbol: string, turned = false) =>
    table && {
      name: name!,
      symbol,
      role: "parameter" as const,
      grid: grid(table, table.rows === 1 ? {} : { column: wordName }),
      turned,
      first: arrays.firstColumn,
      shape: [table.rows, step.shape.output?.at(-1) ?? 0],
      whole: "",
    };
  const weight = learned(
    arrays.weight,
    step.parameters.weight,
    weightLetter(step),
    step.parameters.transposed === true,
  );
  return {
    panels: [...inputs, ...(weight ? [weight] : []), result],
    result,
    bias: learned(arrays.bias, step.parameters.bias, "b"),
    column: (drawn) => words?.[drawn] ?? drawn,
    drawn: (column) => words?.indexOf(column) ?? column,
  };
}

function inputPanel(
  context: WalkContext,
  step: WalkStep,
  { inputs, words }: StepArrays,
  at: number,
  wordName: Naming | null,
): Panel | null {
  const table = inputs[at];
  const [name, shape] = [step.inputs[at]!, step.shape.inputs[at]];
  if (!table || !shape) return null;
  const turned = isTurned(step, at);
  const last = lastWord(name);
  const axes = step.axes.filter((axis) => axis !== "head");
  const keys =
    step.kind === "cross" ? "source" : step.axes.find((axis) => axis === "source" || axis === "target");
  const mixed = step.operation === "mix" && at === 1; // its rows are the keys
  const pooled = shape.length === 2 ? sideOf(step.stack, context.source.description) : undefined;
  const own = ROWS[step.operation]; // of an input that has other rows than the result
  const rows = mixed ? keys : turned ? axes[1] : (own ?? (axes.length > 1 ? axes[0] : pooled));
  const written = isNamedByWritten(context, step);
  const rowNames =
    table.rows === 1 && shape.length < 2
      ? null
      : namesOf(context, step, rows, turned ? table.columns : table.rows, written);
  const keyed = KEYED.has(last) || (last === "scaled" && step.kind !== "embedding");
  const spoken = words !== null && table.columns === words.length;
  const columnNames = keyed ? namesOf(context, step, keys, table.columns) : spoken ? wordName : null;
  return {
    name,
    symbol: letterOf(context.plan, step, name, shape[0]! > 1 ? table.head : null, turned ? "ᵀ" : ""),
    role: "input",
    grid: grid(
      table,
      turned ? { column: rowNames } : { row: rowNames, column: columnNames, share: SHARES.has(last) },
    ),
    turned,
    first: 0,
    shape: [table.rows, turned ? table.columns : (shape.at(-1) ?? table.columns)],
    whole: wholeOf(shape),
  };
}

/** The shape of all heads together; of a single head there is no more. */
function wholeOf(shape: readonly number[]): string {
  return shape.length === 3 && shape[0]! > 1 ? shape.map(count).join(" × ") : "";
}

function resultPanel(
  context: WalkContext,
  step: WalkStep,
  { result: table }: StepArrays,
  wordName: Naming | null,
): Panel {
  const shape = step.shape.output ?? [];
  const axes = step.axes.filter((axis) => axis !== "head");
  const single = axes.length < 2;
  const names = single ? null : namesOf(context, step, axes[0], table.rows, isNamedByWritten(context, step));
  const ids = axes[0] === "source" || axes[0] === "target" ? context.tokens[axes[0]]?.ids : undefined;
  const looked = step.operation === "lookup" && step.inputs[0]?.endsWith("/ids") === true;
  const classes = axes.at(-1) === "class" ? className(context) : null;
  return {
    name: step.output,
    symbol: letterOf(context.plan, step, step.output, shape[0]! > 1 ? table.head : null),
    role: "result",
    grid: grid(table, {
      row: looked && names !== null ? (at) => `${ids?.[at] ?? ""} ${names(at)}` : names,
      column: wordName ?? classes ?? (single ? null : namesOf(context, step, axes[1], table.columns)),
      share: SHARES.has(lastWord(step.output)),
    }),
    turned: false,
    first: 0,
    shape: [table.rows, shape.at(-1) ?? table.columns],
    whole: wholeOf(shape),
    ...bandsOf(context, step),
  };
}

/** Where the heads stand after they were joined. */
function bandsOf({ stage, say }: WalkContext, { operation, shape }: WalkStep): Pick<Panel, "bands"> {
  const before = shape.inputs[0];
  if (operation !== "join" || before?.length !== 3) return {};
  const [heads = 1, , width = 1] = before;
  const bands = Array.from({ length: heads }, (_, head) => ({
    from: head * width,
    to: (head + 1) * width,
    colour: () => headColour(head, stage.theme),
    text: () => say.headBand(head),
  }));
  return { bands };
}

function className(context: WalkContext): Naming {
  const known = new Map(
    (context.source.description.output?.positions[0] ?? []).map((each) => [each.token, each.text]),
  );
  return (at) => known.get(at) ?? String(at);
}
