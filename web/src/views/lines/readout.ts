/**
 * Lines in words: where a token looks, and how much is not drawn.
 *
 * In:   a map, weights as they are looked at, names of tokens.
 * Out:  headings of the axes, sentences, numbers of a few digits.
 */

import type { MapDescription } from "../../api/types";
import { sideName } from "../../core/focus";
import { count, fixed, percent } from "../../core/formats";
import { sideOf } from "../../core/maps";
import type { Stage } from "../../core/view";
import type { Lines } from "../../marks/arcs";
import type { Axis, Columns, Place } from "../../marks/columns";
import { make } from "../../marks/make";
import { type HeadWeights, LEAST, otherAxis } from "./head_weights";
import type { Words } from "./words";

/** A weight in a few digits; nothing for next to nothing. */
export function short(weight: number): string {
  return Math.abs(weight) < LEAST ? "" : fixed(weight, Math.abs(weight) < 0.1 ? 3 : 2);
}

/** What an axis is; for cross-attention also whose tokens it has. */
export function nameAxis(
  axis: Axis,
  map: MapDescription,
  stage: Stage,
  word: Words,
): (HTMLElement | string)[] {
  const hint = axis === "query" ? word.queryHint : word.keyHint;
  return [make("b", {}, word[axis]), ` ${hint}${crossSide(map, axis, stage)}`];
}

/** For cross-attention: whose tokens an axis has. */
export function crossSide(map: MapDescription, axis: Axis, stage: Stage): string {
  if (map.place.kind !== "cross") return "";
  const side = sideOf(map, axis, stage.selection.get());
  return ` · ${sideName(stage.source.description, side, stage.language).toLowerCase()}`;
}

/** A token and where it looks; `start` is the number of its axis' first token. */
export function describeToken(
  place: Place,
  start: number,
  attention: HeadWeights,
  columns: Columns,
  word: Words,
): string {
  const weights = attention.weightsOf(place);
  if (weights === null) return word.loading;
  const axis = otherAxis(place.axis);
  const [name, index] = [columns.token(place), place.row + start];
  const [query, key] = attention.signed ? [word.signedOf, word.signedAt] : [word.looksAt, word.seenBy];
  const opening = (place.axis === "query" ? query : key)(name, index);
  const list = attention
    .best(weights, axis, 5)
    .map(({ row, mean }) => `${columns.token({ axis, row })} ${short(mean)}`);
  return `${opening} ${list.length === 0 ? word.nothing : list.join(" · ")}`;
}

/** How much weight lies below the threshold, and whether there were too many lines. */
export function describeHidden(drawn: Lines, attention: HeadWeights, threshold: number, word: Words): string {
  const share = percent(attention.hidden(threshold), 1);
  const weights = attention.blocks.whole ? word.hidden(share) : word.hiddenOfRows(share);
  const text = attention.signed ? word.signedColours : weights;
  return text + (drawn.left_out > 0 ? word.capped(count(drawn.count)) : "");
}
