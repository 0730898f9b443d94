/**
 * How a text was written: which row of the maps wrote which word, and the paths of a beam search.
 *
 * In:   steps, nodes, token ids.
 * Out:  places and paths.
 */

import type {
  Choice,
  DecodeRequest,
  GenerationDescription,
  MapDescription,
  StepDescription,
} from "../api/types";
import { fixed } from "./formats";

/** The position whose attention chose word 0, so that word k was chosen at `first + k`; null if the words are not there. */
export function findFirst(ids: readonly number[], steps: readonly Choice[]): number | null {
  let best: number | null = null;
  let most = 0;
  for (let first = 0; first < ids.length; first++) {
    const there = Math.min(steps.length, ids.length - first - 1); // an end token may not have been kept
    if (steps.length - there > 1 || (there <= most && best !== null)) continue;
    let matched = 0;
    while (matched < there && ids[first + 1 + matched] === steps[matched]!.token) matched++;
    if (matched === there) [best, most] = [first, there];
  }
  return best;
}

/** From the first word to a node: places in the list of nodes. */
export function pathTo(nodes: readonly StepDescription[], node: number): number[] {
  const path: number[] = [];
  for (let at: number | null = node; at !== null && nodes[at] !== undefined; at = nodes[at]!.parent)
    path.unshift(at);
  return path;
}

/** The nodes of the text that was kept. */
export function keptPath(nodes: readonly StepDescription[], steps: readonly Choice[]): number[] {
  const path: number[] = [];
  let parent: number | null = null;
  for (const [index, step] of steps.entries()) {
    const place = nodes.findIndex(
      (node) => node.index === index && node.parent === parent && node.token === step.token,
    );
    if (place < 0) break;
    path.push(place);
    parent = place;
  }
  return path;
}

/** The chance of a choice, from 0 to 1. */
export function probability(choice: { readonly log_probability: number | null }): number {
  return choice.log_probability === null ? 0 : Math.min(1, Math.exp(choice.log_probability));
}

/** The score of a hypothesis so far. An impossible one has minus infinity, which is null in JSON. */
export function scoreText(
  { score, log_probability }: Pick<StepDescription, "score" | "log_probability">,
  digits: number,
): string {
  return fixed(score ?? log_probability ?? -Infinity, digits);
}

/** What could have come, likeliest first, and what came among it. */
export function choicesOf(step: StepDescription): readonly (Choice & { readonly chosen: boolean })[] {
  const all = step.alternatives.map((each) => ({ ...each, chosen: each.token === step.token }));
  if (!all.some((each) => each.chosen)) {
    all.push({ token: step.token, text: step.text, log_probability: step.log_probability, chosen: true });
  }
  return all.sort((one, other) => probability(other) - probability(one));
}

/** How a text was written: as was asked for, otherwise as can be seen; null: in a way that cannot be asked for. */
export function decodingOf(
  generation: GenerationDescription | null,
  asked: DecodeRequest | null | undefined,
): DecodeRequest | null {
  if (!generation) return null;
  if (asked) return asked;
  const { method, nodes } = generation;
  if (method === "beam")
    return { method, beams: 1 + nodes.reduce((most, { beam }) => Math.max(most, beam), 0) };
  return method === "greedy" || method === "sampling" ? { method } : null;
}

/** The map of a kind that was looked at when a word was written: of its step, or else the whole one; nearest layer. */
export function mapOfStep(
  maps: readonly MapDescription[],
  wish: { kind: "self" | "cross"; stack: string; layer: number; step: number },
): MapDescription | null {
  const related = maps.filter(
    (map) =>
      map.place.kind === wish.kind &&
      map.place.stack === wish.stack &&
      map.has_weights &&
      map.content === "weights",
  );
  const stepped = related.filter((map) => map.place.step === wish.step);
  const those = stepped.length > 0 ? stepped : related.filter((map) => map.place.step === null);
  let best: MapDescription | null = null;
  for (const map of those) {
    if (best === null || Math.abs(map.place.layer - wish.layer) < Math.abs(best.place.layer - wish.layer))
      best = map;
  }
  return best;
}

/** Where [MASK] stands. */
export function findMasks(slice: {
  readonly texts: readonly string[];
  readonly special: readonly boolean[];
  readonly start: number;
}): number[] {
  return slice.texts.flatMap((text, index) =>
    /^[[<|]*mask[\]>|]*$/i.test(text.trim()) ? [slice.start + index] : [],
  );
}
