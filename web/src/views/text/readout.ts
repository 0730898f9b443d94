/**
 * Numbers of tokens in words: the strongest of them, and how one is written.
 *
 * In:   a number for each token of an axis, names of tokens.
 * Out:  sentences.
 */

import { digits } from "../../core/formats";
import { strongest } from "../../core/maths/strongest";
import type { Axis } from "./settings";
import type { Words } from "./words";

/** The token whose row or column is shown. */
export interface Chosen {
  readonly axis: Axis;
  readonly token: number;
}

export interface Reading {
  readonly signed: boolean; // differences or effects, not shares of attention
  readonly values: Float32Array | null; // for every token of the coloured axis
  readonly start: number; // the number of its first token
  readonly chosen: (Chosen & { readonly name: string }) | null; // null: what all attend to
  nameOf(token: number): string;
}

const BEST = 5; // tokens that are named

/** Where the weight goes: the strongest tokens with their numbers. */
export function summarise({ values, start, chosen, signed, nameOf }: Reading, word: Words): string {
  if (values === null) return word.idle;
  const best = strongest(values.length, (place) => Math.abs(values[place]!), BEST).map(
    (place) => `${nameOf(place + start)} (${place + start}) ${digits(values[place]!)}`,
  );
  const list = best.length === 0 ? word.nothing : best.join(" · ");
  if (chosen === null) return `${signed ? word.signedBest : word.receivedBest} ${list}`;
  const { axis, name, token } = chosen;
  if (signed) return `${axis === "query" ? word.signedOf(name, token) : word.signedAt(name, token)} ${list}`;
  return `${axis === "query" ? word.looksAt(name, token) : word.seenBy(name, token)} ${list}`;
}
