/**
 * The attention-score multiplier as a distribution: every head of every layer, and how many have which value.
 *
 * In:   the maps of a recording.
 * Out:  a strip for each layer, a square for each head; pointing names the head, a click selects it.
 */

import type { MapDescription } from "../../api/types";
import { mapName } from "../../core/focus";
import { count, digits } from "../../core/formats";
import { samePlace } from "../../core/place";
import type { RecordingSource } from "../../core/source";
import { words as placeWords } from "../../i18n/focus";
import { useApp } from "../context";
import { later } from "./later_words";

/** Multipliers and how many heads have them, largest first. */
export function countMultipliers(
  maps: readonly MapDescription[],
): readonly (readonly [scale: number, heads: number])[] {
  const found = new Map<number, number>();
  for (const { scale, heads } of maps) if (scale !== null) found.set(scale, (found.get(scale) ?? 0) + heads);
  return [...found].sort(([one], [other]) => other - one);
}

export function Multipliers(props: { readonly source: RecordingSource; readonly now: MapDescription }) {
  const app = useApp();
  const language = app.language.value;
  const [say, names] = [later(language), placeWords(language)];
  const { head } = app.selection.value;
  const { step } = props.now.place;
  const maps = props.source.description.maps.filter(
    (map) => map.scale !== null && (map.place.step === step || map.place.step === null),
  );
  const found = countMultipliers(maps);
  const most = found[0]?.[0] ?? 1;
  if (found.length === 0) return null;
  return (
    <div class="multipliers">
      <p class="hint">
        {found.map(([scale, heads]) => say.headsWith(count(heads), digits(scale))).join(" · ")}
      </p>
      {maps.map((map) => {
        const { scale, heads, place } = map;
        const isNow = samePlace(place, props.now.place);
        return (
          <div class="multiplier-row" key={place.address} data-map={place.address}>
            <span>{mapName(map, language)}</span>
            <span class="multiplier-heads">
              {Array.from({ length: heads }, (_, each) => {
                const name = `${names.headOf(mapName(map, language), each)}: ${digits(scale)}`;
                return (
                  <button
                    key={each}
                    type="button"
                    tabIndex={-1} // heads are chosen by keyboard above
                    data-head={each}
                    class={isNow && each === head ? "chosen" : ""}
                    title={name}
                    aria-label={name}
                    style={{ opacity: most === 0 ? 1 : Math.max(0.15, Math.abs(scale! / most)) }}
                    onClick={() => app.store.set({ place, head: each })}
                  />
                );
              })}
            </span>
            <span class="number">{digits(scale)}</span>
          </div>
        );
      })}
    </div>
  );
}
