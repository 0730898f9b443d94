/**
 * The selection in the address: replaced while a person scrubs, pushed for a new view or recording.
 *
 * In:   a store and a place.
 * Out:  both stay the same: a change of one is written to the other.
 */

import { areOneSeries } from "../core/probes";
import {
  type LinkedSelection,
  nothingSelected,
  readSelection,
  type SelectionStore,
  sameSelection,
  writeSelection,
} from "../core/selection";
import type { SelectionAddress } from "./address";

const PAUSE = 150; // browsers allow about 100 changes of the address in 30 s

export interface Mirror {
  link(told?: boolean): string | null;
  /** Write the address in full, where it was short. */
  complete(): void;
  stop(): void;
}

export function mirror(
  store: SelectionStore,
  place: SelectionAddress,
  follow: (wish: LinkedSelection) => Promise<void>,
): Mirror {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let written = place.read();
  let following = 0; // how many openings are under way because the address changed

  const write = (how: "push" | "replace"): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const text = writeSelection(store.get());
    if (text === written) return;
    written = text;
    place.write(text, how);
  };

  const forget = store.subscribe((now, before) => {
    const first = (before.recording === "" && before.run === "" && before.study === "") || before.view === ""; // the first picture is no step to go back from
    const moved = now.recording !== before.recording && !areOneSeries(now.recording, before.recording);
    const leap = moved || now.run !== before.run || now.study !== before.study || now.view !== before.view;
    if (leap && !first && following === 0) {
      if (timer !== null) {
        // what was scrubbed before the leap belongs to the step that is left behind
        clearTimeout(timer);
        timer = null;
        place.write(writeSelection(before), "replace");
      }
      write("push");
    } else {
      timer ??= setTimeout(() => write("replace"), leap ? 0 : PAUSE);
    }
  });

  const stopListening = place.listen(() => {
    const text = place.read();
    if (text === written) return;
    written = text;
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const said = readSelection(text);
    const now = store.get(); // an address that names no recording speaks of the one that is open
    const wish: LinkedSelection = {
      ...([said.recording, said.run, said.study].every((each) => each === undefined) ? now : nothingSelected),
      ...said,
    };
    if (sameSelection(wish, now)) return write("replace");
    following += 1;
    follow(wish).finally(() => {
      following -= 1;
      const { recording, run, study } = store.get();
      if (recording === wish.recording && run === wish.run && study === wish.study) write("replace"); // in full, and only what there is
    });
  });

  return {
    complete: () => write("replace"),
    link: (told) => place.link(writeSelection(store.get()), told),
    stop() {
      if (timer !== null) clearTimeout(timer);
      forget();
      stopListening();
    },
  };
}
