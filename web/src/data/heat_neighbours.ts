/**
 * Neighbouring heads and layers of a short map, fetched when nothing else is to do: switching is then at once.
 *
 * In:   the map and head on show; the view's source: its requests end with the view.
 * Out:  answers that the source remembers.
 */

import type { MapDescription } from "../api/types";
import type { Head } from "../core/maps";
import { samePlace } from "../core/place";
import type { RecordingSource } from "../core/source";
import { wayOf } from "./heat_tiles";

export function fetchNeighbours(source: RecordingSource, map: MapDescription, head: Head): void {
  if (typeof head !== "number" || wayOf(map, head) !== "dense") return;
  const near = (layer: number): MapDescription | undefined =>
    source.description.maps.find(({ place }) => samePlace(place, { ...map.place, layer }));
  const idle = window.requestIdleCallback ?? ((task: () => void) => window.setTimeout(task, 200));
  idle(() => {
    const [above, below] = [near(map.place.layer + 1), near(map.place.layer - 1)];
    const [first, last] = [head === 0, head + 1 === map.heads];
    const next: [MapDescription | undefined, number][] = [
      last ? [above, 0] : [map, head + 1], // as one reads: on to the next layer
      first ? [below, (below?.heads ?? 0) - 1] : [map, head - 1],
      [above, head],
      [below, head],
    ];
    for (const [other, number] of next) {
      if (other === undefined || number >= other.heads) continue;
      source.weights(other.place, { head: number }, "uint8").catch(() => {});
    }
  });
}
