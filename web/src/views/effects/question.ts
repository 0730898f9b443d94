/**
 * What is measured: a word that the model could write somewhere, one to compare with, or a class.
 *
 * In:   the recording, its tokens, the options.
 * Out:  words to choose from; the request for the server.
 */

import type { Choice, Description, JobRequest, OutcomeRequest, SideName, TokenSlice } from "../../api/types";
import { chance } from "../../core/formats";
import { findFirst, findMasks, probability } from "../../core/generation";
import { integer, optional, type Schema, text } from "../../core/options";

export const MOST_TOKENS = 512; // as the server has it

export interface EffectsOptions {
  readonly word: string | null; // "#1234": a token by its id; otherwise its text, or the name of a class
  readonly against: string | null;
  readonly at: number | null; // position after which the word is written
}

export const options: Schema<EffectsOptions> = {
  word: optional(text()),
  against: optional(text()),
  at: optional(integer(0, 0, MOST_TOKENS)),
};

export interface Word {
  readonly value: string; // as in the options
  readonly text: string;
  readonly share: number | null;
  readonly own: boolean; // it stands in the text
}

/** Whose positions have words: the target where there is one. */
export function sideOf({ shape }: Description): SideName {
  return shape === "encoder-decoder" ? "target" : "source";
}

export function isClassifier({ output }: Description): boolean {
  return output?.kind === "classes";
}

/** The position that is asked about where none is chosen: the next word, the first that was written, the first mask. */
export function usualPosition({ shape, generation }: Description, tokens: TokenSlice): number {
  if (shape === "encoder") return findMasks(tokens)[0] ?? 0;
  const first = generation ? findFirst(tokens.ids, generation.steps) : null;
  return first ?? (shape === "encoder-decoder" ? 0 : tokens.ids.length - 1);
}

/** Words that the model thinks of at a position, likeliest first, and the one that the text has there. */
export function wordsAt(description: Description, tokens: TokenSlice, position: number): readonly Word[] {
  const { output, shape } = description;
  if (output === null) return [];
  const classes = output.kind === "classes";
  const last = position === tokens.ids.length - 1 && shape !== "encoder";
  const choices = output.positions[classes ? 0 : position] ?? (last ? output.last : []);
  const place = shape === "encoder" ? position : position + 1;
  const own = classes ? undefined : tokens.ids[place];
  const words = choices.map((choice: Choice) => ({
    value: classes ? choice.text : `#${choice.token}`,
    text: choice.text,
    share: probability(choice),
    own: choice.token === own,
  }));
  if (own !== undefined && !words.some((word) => word.own))
    words.push({ value: `#${own}`, text: tokens.shown[place]!, share: Number.NaN, own: true });
  return words;
}

export function wordText({ text, share }: Word): string {
  return share === null || Number.isNaN(share) ? text : `${text} ${chance(share)}`;
}

/** Whether the recorded model had edits that its request does not name: heads that a branch, or one before it, blocked. */
export function hasOtherEdits({ evidence }: Description, { edits, layers, multiplier }: JobRequest): boolean {
  const changes = [layers ?? null, (multiplier ?? 1) === 1 ? null : multiplier];
  return (
    evidence.messages.edits.length > (edits?.length ?? 0) + changes.filter((each) => each !== null).length
  );
}

/** What the server is asked; null where no word is chosen. */
export function makeRequest(
  description: Description,
  tokens: TokenSlice,
  run: JobRequest,
  { word, against, at }: EffectsOptions,
): object | null {
  if (word === null) return null;
  const contrast = against === null ? {} : { against: readToken(against) };
  const outcome: OutcomeRequest = isClassifier(description)
    ? { label: word }
    : { token: readToken(word), position: at ?? usualPosition(description, tokens), ...contrast };
  const ids = description.shape === "encoder" ? {} : { ids: tokens.ids };
  return { run: { ...run, kind: "record", decode: null, prefix: null, want: null }, outcome, ...ids };
}

function readToken(word: string): string | number {
  return /^#\d+$/.test(word) ? Number(word.slice(1)) : word;
}
