/**
 * Where in time each word listens, and the true boundaries of what is spoken.
 *
 * In:   weights (word, frame), the time of frames, words with their boundaries.
 * Out:  the peak of each word; which spoken word each of them is.
 */

import type { SoundDescription } from "../../api/types";
import type { TimeCell } from "../../core/media";

export interface HeardWord {
  readonly row: number;
  readonly text: string;
  readonly special: boolean; // or behind the transcript: nobody has said it
  readonly peak: TimeCell | null; // where it listens most
  readonly largest: number;
  readonly spoken: number | null; // the place of this word among those that are spoken
}

const BESIDE = 0.08; // seconds around a word within which a peak counts

/** A word without blanks, marks and capitals, for comparing. */
function plain(text: string): string {
  return text.replace(/[\p{P}\p{S}\s▁␣]/gu, "").toLowerCase();
}

/** `spoken`: the words with known boundaries; none where rows are not named by the word that they serve. */
export function align(
  words: readonly { readonly row: number; readonly text: string; readonly special: boolean }[],
  cells: readonly TimeCell[],
  weight: (row: number, key: number) => number,
  spoken: SoundDescription["words"],
): readonly HeardWord[] {
  let next = 0; // words are spoken in their order
  return words.map(({ row, text, special }) => {
    let [peak, largest] = [null as TimeCell | null, 0];
    for (const cell of cells) {
      const value = weight(row, cell.row);
      if (value > largest) [peak, largest] = [cell, value];
    }
    const name = plain(text);
    const found =
      special || name === "" ? -1 : spoken.findIndex((word, at) => at >= next && plain(word.text) === name);
    if (found >= 0) next = found + 1;
    return { row, text, special, peak, largest, spoken: found < 0 ? null : found };
  });
}

/** How many of the words that are known to be spoken have their peak where they are, and of how many. */
export function countInside(
  heard: readonly HeardWord[],
  sound: SoundDescription,
): readonly [inside: number, all: number] {
  const known = heard.filter(({ spoken }) => spoken !== null);
  const inside = known.filter(({ spoken, peak }) => {
    const { start, end } = sound.words[spoken!]!;
    const middle = peak === null ? 0 : (peak.from + peak.to) / 2;
    return peak !== null && middle >= start - BESIDE && middle <= end + BESIDE;
  });
  return [inside.length, known.length];
}
