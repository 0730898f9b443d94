/**
 * Stacks whose attention can be followed from the top to the input.
 *
 * In:   the maps of a recording.
 * Out:  the self-attention maps of each stack, or why a stack cannot be followed.
 */

import type { MapDescription, Spoken } from "../../api/types";
import { isSigned, signedRefused } from "../../core/focus";
import { count as grouped } from "../../core/formats";
import { groupBy } from "../../core/maths/group";
import { words } from "./words";

const LONGEST = 400; // tokens

/** The self-attention maps of each stack, layer by layer. */
export function stacksOf(maps: readonly MapDescription[]): Map<string, MapDescription[]> {
  const whole = maps.filter(({ place }) => place.kind === "self" && place.step === null);
  const stacks = groupBy(whole, ({ place }) => place.stack);
  for (const layers of stacks.values()) layers.sort((one, other) => one.place.layer - other.place.layer);
  return stacks;
}

/** True, or why no stack of a recording can be followed. */
export function canFlow(maps: readonly MapDescription[]): true | Spoken {
  const stacks = [...stacksOf(maps).values()];
  if (stacks.length === 0) return (language) => words(language).noMaps;
  const reasons = stacks.map(whyNot);
  return reasons.includes(null) || reasons[0]!;
}

/** Why a stack cannot be followed; null where it can. */
export function whyNot(layers: readonly MapDescription[]): Spoken | null {
  if (isSigned(layers)) return signedRefused;
  if (layers.some((map, place) => map.place.layer !== place)) return (language) => words(language).gaps;
  const count = layers[0]!.queries;
  if (layers.some((map) => map.queries !== count || map.keys !== count))
    return (language) => words(language).noMaps;
  if (count > LONGEST) return (language) => words(language).tooLong(grouped(count), grouped(LONGEST));
  return layers.every((map) => map.has_weights) ? null : (language) => words(language).noWeights;
}
