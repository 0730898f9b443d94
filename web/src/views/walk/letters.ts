/**
 * What arrays are called in formulas: one letter for each, the same where it is made and where it is read.
 *
 * In:   a plan, a step, the name of an array.
 * Out:  letters; what follows an underscore is set lower.
 */

import type { WalkPlan, WalkStep } from "../../api/types";
import { lastWord, stepsOf } from "./script";

const LETTERS: Readonly<Record<string, string>> = {
  pixels: "I",
  samples: "s",
  patches: "U",
  projected: "E",
  power: "F",
  spectrogram: "M",
  first: "H",
  first_active: "f(H)",
  second: "H",
  tokens: "E",
  positions: "P",
  segments: "G",
  sum: "X",
  normed: "X̂",
  norm: "X̂",
  final: "X̂",
  queries: "Q",
  keys: "K",
  values: "V",
  queries_normed: "Q̂",
  keys_normed: "K̂",
  similarities: "C",
  queries_turned: "Q′",
  keys_turned: "K′",
  products: "QKᵀ",
  biased: "S",
  position_bias: "B",
  scaled: "S",
  scores: "S",
  weights: "A",
  mixed: "Z",
  joined: "Z",
  output: "Y",
  inner: "H",
  active: "f(H)",
  dense: "H",
  logits: "logits",
  probabilities: "p",
  likeliest: "word",
  pooled: "x",
  classes: "c",
  numbers: "y",
};

const CELLS: Readonly<Record<string, string>> = {
  reset: "r",
  update: "z",
  candidate: "n",
  keep: "i",
  forget: "f",
  release: "o",
  memory: "c",
  memory_before: "c⁻",
  input: "[E; C]",
  joined: "[s; C; E]",
  states: "h",
  scores: "e",
  weights: "α",
  mixed: "C",
  context: "C",
  last: "h_end",
  dense: "t",
  start: "s_0",
  memory_last: "c_end",
  memory_dense: "t",
  memory_start: "c_0",
  active: "tanh(t)",
};

const LEARNED: Readonly<Record<string, string>> = {
  queries: "W_Q",
  keys: "W_K",
  values: "W_V",
  inner: "W_1",
};

const known = new WeakMap<WalkPlan, ReadonlyMap<string, string>>(); // letters by array

/** A letter for an array as a step reads or writes it. */
export function letterOf(
  plan: WalkPlan,
  step: WalkStep,
  name: string,
  head: number | null,
  mark = "",
): string {
  if (!known.has(plan)) known.set(plan, assign(plan));
  const letter = asRead(step, name, known.get(plan)!.get(name) ?? baseOf(name, plan.recurrent));
  const [base = "", below] = letter.split("_");
  const index = head ?? below;
  return base + mark + (index === undefined ? "" : `_${index}`);
}

/** What a layer reads of the one before is its X. */
function asRead(step: WalkStep, name: string, letter: string): string {
  const made = /^\w+\/(\d+)\/(self|cross|feed_forward)\//.exec(name);
  const other = made !== null && step.output !== name && Number(made[1]) !== step.layer;
  return other && letter.startsWith("X") ? "X" : letter;
}

/** Along the computation: what comes out of a step is not called as what went in. */
function assign(plan: WalkPlan): ReadonlyMap<string, string> {
  const letters = new Map<string, string>();
  for (const step of stepsOf(plan)) {
    if (letters.has(step.output)) continue; // shared by all layers
    const base = (name: string) => letters.get(name) ?? baseOf(name, plan.recurrent);
    const taken = new Set(step.inputs.map((name) => asRead(step, name, base(name))));
    let letter = baseOf(step.output, plan.recurrent);
    while (!plan.recurrent && taken.has(letter)) letter += "′";
    letters.set(step.output, letter);
  }
  return letters;
}

function baseOf(name: string, recurrent: boolean): string {
  const word = lastWord(name);
  if (recurrent) return cellLetter(name, word) ?? LETTERS[word] ?? "X";
  return word === "scaled" && name.includes("/embedding/") ? "√d E" : (LETTERS[word] ?? "X");
}

/** Encoder states are h, decoder states s; what the word before left has a minus. */
function cellLetter(name: string, word: string): string | undefined {
  const state = name.startsWith("decoder/") ? "s" : "h";
  const arrow = name.includes("/forward/") ? "_→" : "_←";
  const direction = name.startsWith("encoder/") ? arrow : "";
  if (word === "state") return state + direction;
  if (word === "before" || word === "queries") return `${state}⁻${direction}`;
  return CELLS[word];
}

export function weightLetter(step: WalkStep): string {
  const word = lastWord(step.output);
  if (word === "output") return step.kind === "feed_forward" ? "W_2" : "W_O";
  if (word === "logits") return step.words.tied === "false" ? "Wᵀ" : "Eᵀ";
  return LEARNED[word] ?? "W";
}
