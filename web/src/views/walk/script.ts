/**
 * The order of the walk: which scenes there are, with one layer of each stack opened.
 *
 * In:   a plan (every step of every layer) and a description.
 * Out:  scenes in the order of the computation, in chapters, and the words' keys for each.
 */

import type { Description, Kind, MapDescription, SideName, WalkPlan, WalkStep } from "../../api/types";
import type { sentences } from "./step_words";

export type TextKey = keyof ReturnType<typeof sentences>;

export type Chapter =
  | "text"
  | "picture"
  | "sound"
  | "embedding"
  | "attention"
  | "cross"
  | "feedForward"
  | "states"
  | "cells"
  | "bridge"
  | "context"
  | "sequence"
  | "glance"
  | "output"
  | "training"
  | "words"
  | "tree";

export interface Scene {
  readonly id: string; // in the URL
  readonly kind: "text" | "media" | "step" | "glance" | "sequence" | "training" | "words" | "tree";
  readonly chapter: Chapter;
  readonly block: string; // of the diagram
  readonly stack: string | null;
  readonly layer: number | null;
  readonly step: WalkStep | null;
  readonly key: TextKey;
}

/** All steps of a plan, one after the other. */
export function stepsOf(plan: WalkPlan): readonly WalkStep[] {
  return plan.chapters.flatMap((chapter) => chapter.steps);
}

/** How many layers each stack has. */
export function depths(plan: WalkPlan): ReadonlyMap<string, number> {
  return new Map(plan.stacks.map(({ stack, layers }) => [stack, layers]));
}

export function lastWord(name: string): string {
  return name.split("/").at(-1) ?? name;
}

/** The side whose tokens are the rows of a stack. */
export function sideOf(stack: string | null, description: Description): SideName {
  const own = description.maps.find(
    ({ place }) => place.stack === stack && place.kind === "self",
  )?.query_side;
  if (own !== undefined && own !== "source" && own !== "target") return own;
  return stack === "decoder" && description.target !== null ? "target" : "source";
}

/** The stack whose rows the output has. */
export function lastStack(plan: WalkPlan): string {
  return plan.shape === "encoder" ? "encoder" : "decoder";
}

export function findMap(
  maps: readonly MapDescription[],
  stack: string,
  kind: string | null,
  layer: number,
): MapDescription | null {
  const wanted: Kind = kind === "cross" ? "cross" : "self";
  const fits = maps.filter(
    (map) => map.place.stack === stack && map.place.kind === wanted && map.place.layer === layer,
  );
  return fits.find((map) => map.place.step === null) ?? fits[0] ?? null;
}

/** The layer of a stack that is open: where it has fewer, its last. */
export function layerIn(plan: WalkPlan, stack: string, layer: number): number {
  return Math.max(0, Math.min(layer, (depths(plan).get(stack) ?? 1) - 1));
}

/** Scenes with one layer opened: `layer`, or the last one of a stack that has fewer. */
export function writeScript(plan: WalkPlan, description: Description, layer: number): Scene[] {
  const scenes: Scene[] = [];
  const glanced = new Set<string>();
  let stack: string | null = null;
  let inLayers = false;
  const glance = () => {
    if (stack === null || !inLayers || plan.recurrent || glanced.has(stack)) return; // cells are no stack of layers
    glanced.add(stack);
    const shared = plan.stacks.find((each) => each.stack === stack)?.shared === true;
    const key = shared ? "glanceShared" : "glance";
    scenes.push({ ...plain("glance", "glance", `${stack}.glance`, stack, key), block: "" });
  };
  for (const step of stepsOf(plan)) {
    if (step.chapter === "output") glance(); // it has the rows of the last stack
    if (step.stack !== stack) {
      glance();
      if (plan.recurrent && stack === "encoder")
        scenes.push({ ...plain("sequence", "sequence", "sequence", stack, "sequence"), block: "" });
      inLayers = false;
      if (step.stack !== null && step.stack !== stack) scenes.push(textScene(step.stack, description));
      stack = step.stack;
    }
    if (step.layer === null) {
      glance();
      scenes.push(stepScene(step, plan));
      continue;
    }
    inLayers = true;
    const open = plan.recurrent || step.layer === layerIn(plan, step.stack ?? "", layer);
    if (open) scenes.push(stepScene(step, plan));
  }
  glance();
  return [...scenes, ...epilogue(plan, description)];
}

/** What comes after one pass: only where words are written one after the other. */
function epilogue(plan: WalkPlan, description: Description): Scene[] {
  if (plan.shape === "encoder") return [];
  const scenes: Scene[] = [];
  const words = description.output?.kind === "tokens" && description.output.stack === "decoder";
  const written = (description.generation?.steps.length ?? 0) > 0;
  if (words || written) {
    const key = plan.recurrent ? "trainingRecurrent" : "training";
    scenes.push(plain("training", "training", "training", null, key));
    scenes.push(plain("words", "words", "words", null, "words"));
  }
  scenes.push(plain("tree", "tree", "tree", null, "tree"));
  return scenes;
}

function plain(kind: Scene["kind"], chapter: Chapter, id: string, stack: string | null, key: TextKey): Scene {
  return { id, kind, chapter, block: id, stack, layer: null, step: null, key };
}

function textScene(stack: string, description: Description): Scene {
  const side = sideOf(stack, description);
  const block = `${stack}.embedding.text`;
  if (side === "source" && description.source.picture)
    return { ...plain("media", "picture", `${stack}.text`, stack, "pictureSource"), block };
  if (side === "source" && description.source.sound)
    return { ...plain("media", "sound", `${stack}.text`, stack, "soundSource"), block };
  const key = side === "target" ? "textTarget" : "textSource";
  return { ...plain("text", "text", `${stack}.text`, stack, key), block };
}

/** What is said of texts alone, said of pictures and of sounds. */
const OF_PICTURES: Readonly<Partial<Record<TextKey, TextKey>>> = {
  position: "positionSeen",
  learnedPositions: "learnedPlaces",
  crossQueries: "crossQueriesSeen",
  crossKeys: "crossKeysSeen",
  crossValues: "crossValuesSeen",
  poolFirst: "poolFirstSeen",
  poolMean: "poolMeanSeen",
  poolMax: "poolMaxSeen",
  classes: "classesSeen",
};
const OF_SOUNDS: Readonly<Partial<Record<TextKey, TextKey>>> = {
  position: "positionHeard",
  learnedPositions: "learnedMoments",
  crossQueries: "crossQueriesHeard",
  crossKeys: "crossKeysHeard",
  crossValues: "crossValuesHeard",
  poolFirst: "poolFirstHeard",
  poolMean: "poolMeanHeard",
  poolMax: "poolMaxHeard",
  classes: "classesHeard",
};

/** Which sentence tells of a step, in a network that reads text, pictures or sounds. */
function keyIn(plan: WalkPlan, step: WalkStep): TextKey {
  const key = keyOf(step);
  const { reads } = plan.architecture ?? {};
  if (step.stack === "decoder" && step.kind === "embedding") return key; // it reads words
  const others = reads === "picture" ? OF_PICTURES : reads === "sound" ? OF_SOUNDS : {};
  return others[key] ?? key;
}

function stepScene(step: WalkStep, plan: WalkPlan): Scene {
  const chapter = CHAPTERS[step.kind];
  return {
    id: step.id,
    kind: "step",
    chapter,
    block: blockOf(step),
    stack: step.stack,
    layer: step.layer,
    step,
    key: keyIn(plan, step),
  };
}

const CHAPTERS: Readonly<Record<WalkStep["kind"], Chapter>> = {
  embedding: "embedding",
  self: "attention",
  cross: "cross",
  feed_forward: "feedForward",
  states: "states",
  cells: "cells",
  bridge: "bridge",
  context: "context",
  final: "output",
  output: "output",
};

/** The block of the diagram that a step belongs to. */
export function blockOf(step: WalkStep): string {
  const word = step.id.slice(step.chapter.length + 1);
  if (step.layer === null) return `${step.chapter}.block`;
  const part = word === "normed" || word === "norm" ? "norm" : word === "sum" ? "add" : "block";
  return `${step.chapter}.${part}`;
}

const PLAIN: Readonly<Record<string, TextKey>> = {
  cut: "cut",
  prepend: "prepend",
  fourier: "fourier",
  mel: "mel",
  lookup: "lookup",
  turn: "turn",
  fall: "fall",
  dot: "dot",
  cosine: "compare",
  bilinear: "compare",
  additive: "compare",
  states: "states",
  divide: "divide",
  softmax: "softmax",
  mix: "mix",
  join: "join",
};

const STATES: Readonly<Record<string, TextKey>> = { scores: "compare", weights: "softmax" };

const POOLS: Readonly<Record<string, TextKey>> = {
  first: "poolFirst",
  last: "poolLast",
  mean: "poolMean",
  max: "poolMax",
};

const BENDS: Readonly<Record<string, TextKey>> = {
  relu: "activateRelu",
  gelu: "activateGelu",
  "gelu-tanh": "activateGelu",
  silu: "activateSilu",
};

/** Steps of recurrent networks, by the name of what they write. */
const CELLS: Readonly<Record<string, TextKey>> = {
  reset: "gateReset",
  update: "gateUpdate",
  keep: "gateKeep",
  forget: "gateForget",
  release: "gateRelease",
  memory_before: "memoryBefore",
  memory: "memory",
  states: "bothDirections",
  input: "cellInput",
  last: "lastState",
  memory_last: "lastState",
  dense: "bridge",
  memory_dense: "bridge",
  start: "bridgeStart",
  memory_start: "bridgeStart",
  context: "fixedContext",
};

const WAVES: Readonly<Record<string, TextKey>> = { halves: "wavesHalves", grid: "wavesGrid" };

const LOOKUPS: Readonly<Record<string, TextKey>> = {
  positions: "learnedPositions",
  segments: "segments",
  position_bias: "biasTable",
};

/** Which sentence tells of a step. */
export function keyOf(step: WalkStep): TextKey {
  const { operation, kind } = step;
  const word = lastWord(step.output);
  const chapter = CHAPTERS[step.kind];
  const recurrent = recurrentKey(step, word);
  if (recurrent !== null) return recurrent;
  if (operation === "mask") return maskKey(step.numbers);
  if (operation === "waves") return WAVES[step.words.order ?? ""] ?? "wavesPairs";
  if (operation === "turn" && step.words.order === "grid") return "turnGrid";
  if (operation === "convolve") return word === "first" ? "convolve" : "convolveAgain";
  if (operation === "scale" && chapter !== "embedding") return "scaleScores";
  if (operation === "scale") return step.words.positions === "elsewhere" ? "scaleAlone" : "scale";
  if (operation === "pool") return POOLS[step.words.how ?? ""] ?? "other";
  if (operation === "softmax" && step.numbers.best_keys !== undefined) return "softmaxHard";
  if (operation === "split") return "split";
  if (operation === "lookup") return LOOKUPS[word] ?? "lookup";
  if (operation === "norm") {
    if (step.words.over === "squares") return "queryKeyNorm";
    if (step.words.over === "batch") return "batchNorm";
    if (chapter === "embedding") return "embeddingNorm";
    if (word === "final") return "final";
    if (chapter === "output") return "transformed";
    return word === "normed" ? "normBefore" : "normAfter";
  }
  if (operation === "add") {
    if (chapter !== "embedding" && word === "biased") return step.words.bias === "fall" ? "biasFall" : "bias";
    if (chapter !== "embedding") return step.parameters.weight === null ? "residual" : "residualScaled";
    const added = (part: string) => step.inputs.some((name) => name.endsWith(`/${part}`));
    return added("positions") && !added("segments") ? "position" : "embeddingSum";
  }
  if (chapter === "output") return outputKey(step, word);
  if (operation === "activate") return BENDS[step.words.function ?? ""] ?? "other";
  if (operation === "states" && STATES[word]) return STATES[word];
  if (operation === "product" || operation === "states")
    return sharedKey(step, word) ?? productKey(word, kind, chapter) ?? PLAIN[operation] ?? "other";
  return PLAIN[operation] ?? "other";
}

function maskKey({ window, causal }: WalkStep["numbers"]): TextKey {
  if (window === undefined) return "maskCausal";
  return causal ? "maskWindowCausal" : "maskWindow";
}

/** Of keys and values that several heads share. */
function sharedKey({ numbers }: WalkStep, word: string): TextKey | null {
  if (numbers.heads === undefined) return null;
  return word === "keys" ? "keysShared" : "valuesShared";
}

/** Of recurrent networks; null: no step of theirs alone. */
function recurrentKey({ operation, kind, inputs, words }: WalkStep, word: string): TextKey | null {
  const cross = kind === "cross";
  switch (operation) {
    case "before":
      if (word === "memory_before") return "memoryBefore";
      if (cross) return "lookBack";
      return inputs.length > 1
        ? "beforeDecoder"
        : words.direction === "backward"
          ? "beforeBackward"
          : "before";
    case "gate":
      if (word === "candidate") return inputs.length > 2 ? "candidate" : "candidateMemory";
      return CELLS[word] ?? "other";
    case "blend":
      return "blend";
    case "release":
      return "release";
    case "additive":
      return word === "scores" ? "additive" : null;
    case "mix":
      return cross && inputs[1]?.endsWith("/values") === false ? "contextMix" : null;
    case "ends":
      return words.context === "fixed" ? "summary" : "lastState";
    case "concat":
      return kind === "output" ? "readoutInput" : (CELLS[word] ?? "other");
    default:
      return kind === "cells" || kind === "bridge" || kind === "context" ? (CELLS[word] ?? "other") : null;
  }
}

function outputKey({ operation, axes, words, inputs }: WalkStep, word: string): TextKey {
  const one = axes.length === 1; // one answer for the whole text, not one for each position
  if (words.of === "tags")
    return operation === "softmax" ? "tagProbabilities" : operation === "choose" ? "chooseTag" : "tags";
  if (word === "numbers") return "numbers";
  if (operation === "softmax") return one ? "classProbabilities" : "probabilities";
  if (operation === "choose") return one ? "chooseClass" : "choose";
  if (operation === "activate") return words.function === "tanh" ? "outputTanh" : "outputActivate";
  if (word === "classes") return "classes";
  if (word === "logits") return words.tied === "false" ? "logits" : "logitsTied";
  if (operation === "product") {
    if (word === "transformed") return "narrowed";
    return inputs[0]?.endsWith("/joined") ? "readout" : one ? "pooler" : "dense";
  }
  return PLAIN[operation] ?? "other";
}

function productKey(word: string, kind: string | null, chapter: Chapter): TextKey | null {
  const cross = kind === "cross";
  if (word === "queries") return cross ? "crossQueries" : "queries";
  if (word === "keys") return cross ? "crossKeys" : "keys";
  if (word === "values") return cross ? "crossValues" : "values";
  if (word === "inner") return "inner";
  if (word === "widened") return "widened";
  if (chapter === "embedding" && (word === "projected" || word === "tokens")) return "projectPatches";
  if (word === "output") return chapter === "feedForward" ? "contract" : "attentionOutput";
  return null;
}
