/**
 * The arithmetic of each operation that needs no matrix of weights, for one number at a time, as the server has it in
 * walk/operations.py and walk/attention_cells.py: tests/browser/test_file_cells.py holds both equal.
 *
 * In:   a Cell.
 * Out:  Working.
 */

import { cut, findLoudness, transform } from "./file_media";
import type { Cell, Row, Working } from "./file_working";

const WAVELENGTH = 10_000; // of positions, as in the model

function dot(left: Row, right: Row): number {
  let sum = 0;
  for (let at = 0; at < left.length; at++) sum += left[at]! * right[at]!;
  return sum;
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** Sine or cosine of position times frequency. */
function makeWaves(cell: Cell): Working {
  const { step } = cell;
  const grid = step.words.order === "grid"; // half of the features for the row of a patch, half for its column
  const width = step.shape.output!.at(-1)! / (grid ? 2 : 1);
  const place = grid ? placeOf(cell) : null;
  if (grid && place === null) return { result: 0 }; // a class token has no place
  const row = place === null ? cell.row : place[cell.column < width ? 0 : 1];
  const column = grid ? cell.column % width : cell.column;
  const half = Math.floor(width / 2);
  const halves = step.words.order === "halves";
  const pair = halves ? column % half : Math.floor(column / 2);
  const sine = halves ? column < half : column % 2 === 0;
  const frequency = WAVELENGTH ** ((-2 * pair) / width);
  const angle = row * frequency;
  const numbers = { position: row, frequency, angle, sine: Number(sine) };
  return { result: sine ? Math.sin(angle) : Math.cos(angle), numbers };
}

/** Row and column of a token on its picture; null of a class token. */
function placeOf({ step, row }: Cell): readonly [row: number, column: number] | null {
  const { grid = 1, first = 0 } = step.numbers;
  const at = row - first;
  return at < 0 ? null : [Math.floor(at / grid), at % grid];
}

/** Left times right, summed. */
function sumUp(left: Row, right: Row, more: Partial<Working>): Working {
  const sum = dot(left, right);
  return { result: sum, left, right, sum, ...more };
}

/** Times a fixed number. */
function scale(cell: Cell): Working {
  const { scale, factor } = cell.step.numbers;
  return sumUp([cell.value()], [scale ?? factor!], { reads: [cell.readHere()] });
}

/** Arrays, cell by cell; the last of two may have a learnt factor. */
function add(cell: Cell): Working {
  const { inputs, parameters } = cell.step;
  const left = inputs.map((name) => cell.value(name));
  const right = left.map(() => 1);
  if (parameters.weight) right[right.length - 1] = cell.learned(parameters.weight, 0);
  const reads = inputs.map((name) => cell.readHere(name));
  return sumUp(left, right, { labels: (at) => inputs[at]!, reads });
}

/** (x − mean) / deviation, times a gain, plus a shift. */
function norm(cell: Cell): Working {
  const { parameters, numbers, words } = cell.step;
  const features = [...cell.vector()];
  if (words.over === "squares") return normBySquares(cell, features);
  const own = total(features) / features.length;
  const batch = Boolean(parameters.mean);
  const mean = batch ? cell.learned(parameters.mean) : own;
  const variance = batch
    ? cell.learned(parameters.variance)
    : total(features.map((feature) => (feature - own) ** 2)) / features.length;
  const input = features[cell.column]!;
  const deviation = Math.sqrt(variance + numbers.epsilon!);
  const gain = cell.learned(parameters.weight);
  const bias = cell.learned(parameters.bias);
  const standard = (input - mean) / deviation;
  return {
    result: standard * gain + bias,
    numbers: { input, mean, variance, deviation, standard, gain },
    bias,
    sum: standard * gain,
    reads: [cell.read(cell.input, cell.row)],
  };
}

/** x / √(mean of x²), times a gain. */
function normBySquares(cell: Cell, features: readonly number[]): Working {
  const input = features[cell.column]!;
  const square = total(features.map((feature) => feature ** 2)) / features.length;
  const root = Math.sqrt(square + cell.step.numbers.epsilon!);
  const gain = cell.learned(cell.step.parameters.weight);
  const standard = input / root;
  const numbers = { input, root, standard, gain };
  return { result: standard * gain, numbers, reads: [cell.read(cell.input, cell.row)] };
}

/** Minus the head's slope times the distance; heads beyond a power of two take every second slope of twice as many. */
function fall({ step, head: asked, row, column }: Cell): Working {
  const head = asked ?? 0;
  const smaller = 2 ** Math.floor(Math.log2(step.shape.output![0]!));
  const power = head < smaller ? (8 * (head + 1)) / smaller : (4 * (2 * (head - smaller) + 1)) / smaller;
  const slope = 2 ** -power;
  const distance = Math.abs(row - column);
  return { result: -slope * distance, numbers: { slope, distance } };
}

/** A part of a longer vector, unchanged. */
function split(cell: Cell): Working {
  const { input: name, row } = cell;
  const column = (cell.head ?? 0) * cell.step.shape.output!.at(-1)! + cell.column;
  return { result: cell.vector()[column]!, reads: [{ name, head: null, row, column }] };
}

/** Feature i and feature i + k/2 turn together, by an angle that grows with the position. */
function turn(cell: Cell): Working {
  const { input, row, column } = cell;
  const vector = cell.vector();
  const half = Math.floor(vector.length / 2);
  const pair = column % half;
  const grid = cell.step.words.order === "grid"; // half of the pairs turn with the row, half with the column
  const pairs = grid ? half / 2 : half;
  const position = grid ? (placeOf(cell) ?? [0, 0])[pair < pairs ? 0 : 1] : row;
  const speed = Math.fround(WAVELENGTH ** (-(pair % pairs) / pairs));
  const angle = Math.fround(position * speed); // in single precision, as the model
  const partner = column < half ? pair + half : pair;
  const places = [column, partner];
  const left = places.map((place) => vector[place]!);
  const right = [Math.cos(angle), column < half ? -Math.sin(angle) : Math.sin(angle)];
  return sumUp(left, right, {
    labels: (at) => String(places[at]),
    numbers: { angle, position },
    reads: places.map((place) => cell.read(input, row, place)),
  });
}

/** A query with a key: a product, or the cosine. */
function compare(cell: Cell): Working {
  const [queries = "", keys = ""] = cell.step.inputs;
  let left: Row = cell.vector(queries);
  let right: Row = cell.vector(keys, cell.column);
  let numbers: Readonly<Record<string, number>> = {};
  if (cell.step.operation === "cosine") {
    const lengthOf = (vector: Row): number => Math.max(Math.sqrt(dot(vector, vector)), 1e-12);
    const [query, key] = [lengthOf(left), lengthOf(right)];
    numbers = { query_length: query, key_length: key };
    left = Array.from(left, (feature) => feature / query);
    right = Array.from(right, (feature) => feature / key);
  }
  const sum = dot(left, right);
  let result = sum;
  const { scale: factor, cap } = cell.step.numbers;
  if (factor !== undefined) {
    // A model of transformers: scaled and masked in one step, and in some with a soft cap, c · tanh(x / c).
    const hidden = cell.value(cell.step.output) === Number.NEGATIVE_INFINITY;
    numbers = { ...cell.step.numbers, allowed: Number(!hidden) };
    const scaled = sum * factor;
    result = cap === undefined ? scaled : cap * Math.tanh(scaled / cap);
    if (hidden) result = Number.NEGATIVE_INFINITY;
  }
  const reads = [cell.read(queries, cell.row), cell.read(keys, cell.column)];
  return { result, left, right, sum, numbers, reads };
}

/** A query sees itself and what came before, with a window near keys only; the others become minus infinity. */
function mask(cell: Cell): Working {
  const { causal = 1, window = Number.POSITIVE_INFINITY } = cell.step.numbers;
  const ahead = cell.column - cell.row;
  const allowed = (ahead <= 0 || causal === 0) && Math.abs(ahead) < window;
  const input = cell.value();
  return {
    result: allowed ? input : Number.NEGATIVE_INFINITY,
    numbers: { input, allowed: Number(allowed) },
    reads: [cell.readHere()],
  };
}

/** exp of a score as a share of all: keys of one query, words of one position. */
function softmax(cell: Cell): Working {
  const { step, column, names } = cell;
  const given = [...cell.vector()];
  const best = step.numbers.best_keys;
  const scores = best === undefined ? given : keepBest(given, best, cell.vector(step.output));
  const highest = scores.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY);
  const powers = scores.map((score) => Math.exp(score - highest));
  const sum = total(powers);
  const weights = powers.map((power) => (sum > 0 ? power / sum : 0));
  const axis = step.axes.at(-1)!;
  const texts = axis === "source" || axis === "target" ? names.tokens(axis) : null;
  return {
    result: weights[column]!,
    left: scores,
    right: powers,
    products: weights,
    labels: (at) => (texts === null ? (names.words.get(at) ?? String(at)) : texts[at]!),
    sum,
    numbers: { score: scores[column]!, highest, power: powers[column]! },
    reads: [cell.read(cell.input, cell.row)],
  };
}

/** Minus infinity for all but the k best; of equal ones, those that the network took. */
function keepBest(scores: readonly number[], count: number, weights: Row): number[] {
  const order = scores.map((_, at) => at);
  order.sort((one, other) => scores[other]! - scores[one]! || weights[other]! - weights[one]!);
  const kept = new Set(order.slice(0, count));
  return scores.map((score, at) => (kept.has(at) ? score : Number.NEGATIVE_INFINITY));
}

/** Values of all keys, each as much as its weight says. */
function mix(cell: Cell): Working {
  const { step, names } = cell;
  const [weights = "", values = ""] = step.inputs;
  const texts = names.tokens(step.kind === "cross" ? "source" : step.axes[1]!);
  const reads = [cell.read(weights, cell.row), cell.read(values, null, cell.column)];
  return sumUp(cell.vector(weights), cell.across(values), { labels: (at) => texts[at]!, reads });
}

/** Heads side by side: nothing is computed. */
function join(cell: Cell): Working {
  const { input: name, row } = cell;
  const { shape, values } = cell.array(name);
  const [, rows = 1, width = 1] = shape;
  const head = Math.floor(cell.column / width);
  const column = cell.column % width;
  const result = values[(head * rows + row) * width + column]!;
  return { result, numbers: { head }, reads: [{ name, head, row, column }] };
}

/** What the activation makes of a number. */
function activate(cell: Cell): Working {
  const input = cell.value();
  const result = ACTIVATIONS[cell.step.words.function!]!(input);
  return { result, numbers: { input }, reads: [cell.readHere()] };
}

/** One vector of many: the first or last token's, the mean, the largest. */
function pool(cell: Cell): Working {
  const values = cell.across();
  const last = values.length - 1;
  const how = cell.step.words.how!;
  const chosen = { first: 0, last, max: values.indexOf(Math.max(...values)) }[how];
  const shares = values.map((_, at) => (chosen === undefined ? 1 / values.length : Number(at === chosen)));
  const texts = cell.names.tokens("source");
  const reads = [cell.read(cell.input, null, cell.column)];
  return sumUp(values, shares, { labels: (at) => texts[at]!, reads });
}

const ACTIVATIONS: Readonly<Record<string, (x: number) => number>> = {
  relu: (x) => Math.max(x, 0),
  gelu: (x) => x * 0.5 * (1 + erf(x / Math.SQRT2)),
  "gelu-tanh": (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x))),
  silu: (x) => (x > -700 ? x / (1 + Math.exp(-x)) : 0),
  tanh: Math.tanh,
};

/** The error function to all digits: 2/√π · e^(−x²) · Σ 2ⁿ x²ⁿ⁺¹ / (1 · 3 · … · (2n + 1)), all terms of one sign. */
export function erf(x: number): number {
  if (!(Math.abs(x) <= 6)) return Math.sign(x); // of no number, none
  let sum = 0;
  let term = x;
  for (let odd = 1; sum + term !== sum; odd += 2) {
    sum += term;
    term *= (2 * x * x) / (odd + 2);
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** What is not named here needs weights that no file holds, or has no cells to point at. */
/** A number as it stands elsewhere. */
function copy(cell: Cell, name: string, row: number | null, column = cell.column): Working {
  return { result: cell.vector(name, row ?? 0)[column]!, reads: [cell.read(name, row, column)] };
}

/** The state of the word before; of a first word the start, or zero. */
function shift(cell: Cell): Working {
  const [first, second] = cell.step.inputs;
  const states = second ?? first!;
  const row = cell.row + (cell.step.words.direction === "backward" ? 1 : -1);
  if (row >= 0 && row < cell.array(states).shape.at(-2)!) return copy(cell, states, row);
  return second === undefined ? { result: 0 } : copy(cell, first!, null);
}

/** Vectors side by side. */
function concatenate(cell: Cell): Working {
  let column = cell.column;
  for (const name of cell.step.inputs) {
    const width = cell.array(name).shape.at(-1)!;
    if (column < width) return copy(cell, name, cell.row, column);
    column -= width;
  }
  throw new RangeError(String(cell.column));
}

/** The state after the last word that was read, of each direction. */
function findEnd(cell: Cell): Working {
  const [rows, width] = cell.array(cell.input).shape as [number, number];
  const place = Math.floor(cell.column / width);
  return copy(cell, cell.step.inputs[place]!, place === 0 ? rows - 1 : 0, cell.column % width);
}

/** What two gates let through: (1 − z) n + z h of a GRU, f c + i g of an LSTM's memory. */
function blend(cell: Cell): Working {
  const { inputs, operation } = cell.step;
  const [one = 0, two = 0, three = 0, four = 0] = inputs.map((name) => cell.value(name));
  const [values, shares] =
    operation === "blend"
      ? [
          [two, three],
          [1 - one, one],
        ]
      : [
          [two, four],
          [one, three],
        ];
  const named = operation === "blend" ? [inputs[1]!, inputs[2]!] : [inputs[1]!, inputs[3]!];
  const reads = inputs.map((name) => cell.readHere(name));
  return sumUp(values, shares, { labels: (at) => named[at]!, reads });
}

/** o tanh(c) of an LSTM. */
function release(cell: Cell): Working {
  const [gate = "", memory = ""] = cell.step.inputs;
  const reads = [cell.readHere(gate), cell.readHere(memory)];
  const numbers = { memory: cell.value(memory) };
  return sumUp([Math.tanh(cell.value(memory))], [cell.value(gate)], { labels: () => memory, reads, numbers });
}

export const OPERATIONS: Readonly<Record<string, (cell: Cell) => Working>> = {
  cut,
  fourier: transform,
  mel: findLoudness,
  waves: makeWaves,
  scale,
  add,
  norm,
  split,
  turn,
  fall,
  dot: compare,
  cosine: compare,
  divide: scale,
  mask,
  softmax,
  mix,
  join,
  activate,
  pool,
  before: shift,
  concat: concatenate,
  ends: findEnd,
  repeat: (cell) => copy(cell, cell.input, null),
  blend,
  remember: blend,
  release,
};
