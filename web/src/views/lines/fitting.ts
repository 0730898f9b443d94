/**
 * Whether a recording can be shown as lines.
 *
 * In:   its maps.
 * Out:  true, or why not.
 */

import type { Phrase } from "../../api/types";
import { count } from "../../core/formats";
import type { SubjectOf } from "../../core/view";
import { inBoth } from "../../i18n/core";
import { words } from "./words";

const LONGEST = 8192; // tokens on an axis

export function fits({
  now: {
    description: { maps },
  },
}: SubjectOf<"recording">): true | Phrase {
  if (maps.length === 0) return inBoth(words, (word) => word.noMaps);
  const longest = Math.max(...maps.map((map) => Math.max(map.queries, map.keys)));
  if (longest > LONGEST) return inBoth(words, (word) => word.tooLong(count(longest), count(LONGEST)));
  return maps.some((map) => map.has_weights) || inBoth(words, (word) => word.noWeights);
}
