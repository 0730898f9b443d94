/**
 * The search for heads in words, as glassformer/atlases/naming.py does it.
 *
 * In:   detectors with their terms, a question: "heads that look at the object of a verb".
 * Out:  the detectors that the question names best; none where it names no one.
 */

import type { AtlasDetector, AtlasHead } from "../../api/types";

const WORD = /[^\s|?!,;()？！，。；（）]+/g;

/** Lower case, without punctuation and plurals, a blank at both ends of words that have blanks. */
function normalise(text: string): string {
  const joined = (text.toLowerCase().match(WORD) ?? []).map((word) => word.replace(/s$/, "")).join(" ");
  return [...joined].every((letter) => letter < "\u0080") ? ` ${joined} ` : joined;
}

export function findDetectors(
  detectors: readonly Pick<AtlasDetector, "name" | "terms">[],
  question: string,
): readonly string[] {
  const asked = normalise(question);
  const weights = detectors.map(({ terms }) =>
    terms.reduce((sum, term) => sum + (asked.includes(term) ? term.length : 0), 0),
  );
  const best = Math.max(0, ...weights);
  return detectors.flatMap(({ name }, at) => (best > 0 && weights[at] === best ? [name] : []));
}

/** How clearly a head passes one of some detectors; 0 where it passes none. */
export function strengthOf(head: AtlasHead, names: readonly string[]): number {
  const margins = head.types.filter((type) => names.includes(type)).map((type) => marginOf(head, type));
  return Math.max(0, ...margins);
}

/** How far a score stands above chance. */
export function marginOf(head: AtlasHead, detector: string): number {
  const score = head.scores[detector];
  return score ? score.mean - score.null : 0;
}
