/**
 * One token followed down a stack: its shares in every layer, the streams between them, and how they are said.
 *
 * In:   the mix of each layer, the token at the top, an input token.
 * Out:  Traced; sentences about it.
 */

import { percent as formatPercent } from "../../core/formats";
import { findStreams, type Stream, traceDown, traceUp } from "../../core/maths/rollout";
import { strongest } from "../../core/maths/strongest";
import type { Words } from "./words";

export const LEAST = 0.001; // the thinnest band
export const STRIP = 10; // pixels of heat at each layer

export interface Traced {
  readonly token: number; // row at the top
  readonly input: number | null; // row of the input whose part is dark
  readonly down: Float32Array[]; // (plane, row): shares from the input to the top
  readonly streams: Stream[];
}

/** A token at a layer: plane 0 is the input. */
export interface LayerToken {
  readonly plane: number;
  readonly row: number;
}

/** Follow a token; what `before` found already is not found again. */
export function traceToken(
  mixes: readonly Float32Array[],
  count: number,
  token: number,
  input: number | null,
  before: Traced | null,
): Traced {
  if (before?.token === token && before.input === input) return before;
  const down = before?.token === token ? before.down : traceDown(mixes, count, token);
  const up = input === null ? null : traceUp(mixes, count, input);
  return { token, input, down, streams: findStreams(mixes, count, down, up, LEAST).streams };
}

/** What a picture shows, in a sentence: one place, one input, or where most came from. */
export function tellTrace(
  { token, input, down }: Traced,
  node: LayerToken | null,
  start: number,
  nameOf: (row: number) => string,
  word: Words,
): string {
  const inputs = down[0]!;
  if (node !== null) {
    const where = node.plane === 0 ? word.atInput : word.afterLayer(node.plane - 1);
    return word.share(nameOf(node.row), node.row + start, where, percent(down[node.plane]![node.row]!));
  }
  if (input !== null) return word.through(nameOf(input), input + start, percent(inputs[input]!));
  const best = strongest(inputs.length, (row) => inputs[row]!, 5).map(
    (row) => `${nameOf(row)} ${percent(inputs[row]!)}`,
  );
  return `${word.idle(nameOf(token), token + start)} ${best.join(" · ")}`;
}

/** A share as per cent; `short`: nothing for next to nothing. */
export function percent(share: number, short = false): string {
  return short && share < 0.0005 ? "" : formatPercent(share, share < 0.0995 ? 1 : 0);
}
