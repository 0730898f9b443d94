/**
 * Before and after: one recording beside the same run with other scores.
 *
 * In:   two sources, the map, head and row in focus.
 * Out:  Rerun: the row, entropies, score distributions and outputs of both.
 */

import type { Choice, Distribution, MapDescription } from "../api/types";
import type { Focus } from "../core/focus";
import { samePlace } from "../core/place";
import { type RecordingSource, Refusal } from "../core/source";
import { words } from "../i18n/hosts";
import { readRow } from "./weights";

export interface Rerun {
  readonly id: string;
  readonly factor: number;
  readonly everywhere: boolean;
  readonly row: Float32Array | null; // weights of the row in focus
  readonly before: Distribution; // scores of the head
  readonly after: Distribution;
  readonly entropyBefore: number | null;
  readonly entropyAfter: number | null;
  readonly outputBefore: readonly Choice[] | null;
  readonly outputAfter: readonly Choice[] | null;
  readonly classes: boolean;
}

export async function compare(
  before: RecordingSource,
  after: RecordingSource,
  focus: Focus,
  run: { readonly id: string; readonly factor: number; readonly everywhere: boolean },
): Promise<Rerun> {
  const { map, oneHead, query } = focus;
  const other = sameMap(after.description.maps, map);
  const place = { head: oneHead, bins: 64 };
  const [one, two, entropyBefore, entropyAfter, row] = await Promise.all([
    before.distribution("scores", { map: map.place, ...place }),
    after.distribution("scores", { map: other.place, ...place }),
    meanEntropy(before, map, oneHead),
    meanEntropy(after, other, oneHead),
    other.has_weights && other.queries === map.queries && other.keys === map.keys
      ? readRow(after, other, oneHead, query)
      : null,
  ]);
  return {
    ...run,
    row,
    before: one,
    after: two,
    entropyBefore,
    entropyAfter,
    outputBefore: outputAt(before, focus),
    outputAfter: outputAt(after, focus),
    classes: before.description.output?.kind === "classes",
  };
}

function sameMap(maps: readonly MapDescription[], map: MapDescription): MapDescription {
  const found = maps.find((each) => samePlace(each.place, map.place));
  if (found === undefined)
    throw new Refusal((language) => words(language).noSameMap(map.place.address), "no_map", 0);
  return found;
}

async function meanEntropy(
  source: RecordingSource,
  map: MapDescription,
  head: number,
): Promise<number | null> {
  const score = await source.score("entropy", "head");
  return score.parts.find((part) => samePlace(part.place, map.place))?.values[head] ?? null;
}

/** What the model said at the position in focus; a class has one position. */
function outputAt({ description }: RecordingSource, { map, query }: Focus): readonly Choice[] | null {
  const { output } = description;
  if (output === null || output.positions.length === 0) return null;
  if (output.kind === "classes") return output.positions[0] ?? null;
  if (output.stack !== map.place.stack) return output.last;
  return output.positions[map.query_start + query] ?? output.last;
}
