/**
 * How one number of the walk came about, in an exported file: which row and column made it, with the arithmetic, from
 * arrays that lie in the file. walk/cells.py is the same on the server.
 *
 * In:   a step, a place in its output, and a way to the answers in the file.
 * Out:  the bytes of a CellArithmetic; null where the step needs what the file does not hold.
 */

import { asFloats, type Frame, tensor } from "../api/frames";
import type { CellArithmetic, CellTerm, Description, TokenSlice, WalkPlan, WalkStep } from "../api/types";
import { OPERATIONS } from "./file_operations";
import { Cell, type Names, type NumberArray, type Working } from "./file_working";

const MOST_TERMS = 256; // as they are; of more, the largest of each of so many parts: what a page can draw
const LARGE = 8; // terms that are marked

/** Answers of the file by their paths. */
export interface Answers {
  json<T>(path: string): Promise<T | null>;
  frame(path: string): Promise<Frame | null>;
}

/** `here` is the path of the recording, `asked` row, column and head. */
export async function answerCell(
  here: string,
  id: string,
  asked: URLSearchParams,
  answers: Answers,
): Promise<ArrayBuffer | null> {
  const plan = await answers.json<WalkPlan>(`${here}/walk`);
  const step = plan?.chapters.flatMap((chapter) => chapter.steps).find((each) => each.id === id);
  const operation = OPERATIONS[step?.operation ?? ""];
  const shape = step?.shape.output;
  if (!step?.arithmetic || !operation || !shape) return null;
  const { weight, bias, mean, variance, vector } = step.parameters;
  const learned = [weight, bias, mean, variance, vector].filter((name) => typeof name === "string");
  const arrays = await findArrays(here, [...step.inputs, step.output, ...learned], answers);
  const [row = 0, column = 0] = ["row", "column"].map((axis) => Number(asked.get(axis) ?? 0));
  const head = shape.length === 3 ? Number(asked.get("head") ?? 0) : null;
  const place = [...(head === null ? [] : [head]), ...(shape.length > 1 ? [row] : []), column];
  const inside = place.every((at, axis) => Number.isInteger(at) && at >= 0 && at < shape[axis]!);
  if (arrays === null || !inside) return null;
  const cell = new Cell(step, head, row, column, arrays, await findNames(here, step, answers));
  const found = tell(cell, operation(cell));
  return new TextEncoder().encode(JSON.stringify(found)).buffer as ArrayBuffer;
}

async function findArrays(
  here: string,
  names: readonly string[],
  answers: Answers,
): Promise<ReadonlyMap<string, NumberArray> | null> {
  const arrays = new Map<string, NumberArray>();
  for (const name of names) {
    const frame = await answers.frame(`${here}/trace/${name}`);
    if (frame === null) return null;
    const found = tensor(frame, "values");
    arrays.set(name, { shape: found.shape, values: asFloats(found) });
  }
  return arrays;
}

/** Texts of tokens, and of the words that the recording names. */
async function findNames(here: string, { axes }: WalkStep, answers: Answers): Promise<Names> {
  const words = new Map<number, string>();
  const description = await answers.json<Description>(here);
  for (const choices of description?.output?.positions ?? [])
    for (const { token, text } of choices) words.set(token, text);
  const sides = new Map<string, readonly string[]>();
  for (const side of ["source", "target"]) {
    const slice = await answers.json<TokenSlice>(`${here}/tokens/${side}`);
    if (slice === null) continue;
    sides.set(side, slice.shown);
    if (axes.at(-1) === "vocabulary")
      slice.ids.forEach((id, at) => {
        words.set(id, slice.shown[at]!);
      });
  }
  const source = sides.get("source") ?? [];
  return { words, tokens: (side) => (side === "source" ? source : (sides.get(side) ?? source)) };
}

function tell(cell: Cell, working: Working): CellArithmetic {
  const { step, head, row, column } = cell;
  const value = cell.value(step.output);
  const { result } = working;
  return {
    step: step.id,
    operation: step.operation,
    head,
    row,
    column,
    ...chooseTerms(working),
    bias: finite(working.bias),
    numbers: Object.fromEntries(
      Object.entries(working.numbers ?? {}).map(([name, number]) => [name, finite(number)]),
    ),
    sum: finite(working.sum),
    value: finite(value),
    shown: finite(result),
    difference: result === value ? 0 : finite(result - value),
    reads: working.reads ?? [],
  };
}

/** The terms, or the largest of each part where they are many, those that matter most marked; and the others as one. */
export function chooseTerms({
  left = [],
  right = [],
  products: given,
  labels = String,
}: Working): Pick<CellArithmetic, "terms" | "left_out" | "rest"> {
  const products = Array.from(given ?? left, (product, at) => (given ? product : product * right[at]!));
  const sizes = products.map(Math.abs);
  const order = sizes.map((_, at) => at).sort((one, other) => sizes[other]! - sizes[one]!);
  const large = new Set(order.slice(0, LARGE));
  const sent = new Set([...large, ...findHighest(sizes)]);
  const terms: CellTerm[] = [];
  let rest = 0;
  products.forEach((product, index) => {
    if (!sent.has(index)) rest += product;
    else
      terms.push({
        index,
        label: labels(index),
        left: finite(left[index]),
        right: finite(right[index]),
        product: finite(product),
        large: large.has(index),
      });
  });
  return { terms, left_out: products.length - sent.size, rest };
}

/** The places of the largest in each of MOST_TERMS parts of the same length; of few, all. */
function findHighest(sizes: readonly number[]): number[] {
  const step = Math.max(1, Math.ceil(sizes.length / MOST_TERMS));
  const places: number[] = [];
  for (let start = 0; start < sizes.length; start += step) {
    let best = start;
    for (let at = start; at < Math.min(start + step, sizes.length); at++)
      if (sizes[at]! > sizes[best]!) best = at;
    places.push(best);
  }
  return places;
}

/** JSON has no infinity: a masked score is null. */
function finite(number: number | undefined): number | null {
  return number !== undefined && Number.isFinite(number) ? number : null;
}
