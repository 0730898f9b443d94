/**
 * Maps that stand together in the overview.
 *
 * In:   the maps of a recording.
 * Out:  groups by stack and kind, layers in order; how many heads they have.
 */

import type { MapDescription } from "../../api/types";
import { groupBy } from "../../core/maths/group";
import type { Selection } from "../../core/selection";
import type { Group } from "./grid";
import type { Words } from "./words";

/** Maps by stack and kind; of maps seen step by step, those of one step. */
export function groupMaps(maps: readonly MapDescription[], selection: Selection, say: Words): Group[] {
  const whole = maps.filter((map) => map.place.step === null);
  const last = maps.reduce((most, map) => Math.max(most, map.place.step ?? 0), 0);
  const step = maps.some((map) => map.place.step === selection.step) ? selection.step : last;
  const shown = whole.length > 0 ? whole : maps.filter((each) => each.place.step === step);
  const titleOf = ({ place }: MapDescription): string =>
    say.group(place.stack, place.kind) + (place.step === null ? "" : ` · ${say.groupStep(place.step)}`);
  return [...groupBy(shown, titleOf)].map(([title, members]) => ({
    title,
    maps: members.sort((a, b) => a.place.layer - b.place.layer),
  }));
}

export function countHeads(groups: readonly Group[]): number {
  return groups.flatMap(({ maps }) => maps).reduce((sum, map) => sum + map.heads, 0);
}
