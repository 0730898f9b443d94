/**
 * Two atlases beside each other: the pairs of heads that differ most.
 *
 * In:   an atlas, another one, the pairs that the server made.
 * Out:  a sentence and a table; a row leads to the card of its first head.
 */

import type { AtlasDescription, AtlasHead, AtlasPair, AtlasPairs } from "../../api/types";
import { count, fixed } from "../../core/formats";
import { button } from "../../marks/controls";
import { make } from "../../marks/make";
import { type CardLook, drawPart } from "./card";
import { nameType } from "./colouring";

const MOST = 20;

export interface Beside {
  readonly atlas: AtlasDescription;
  readonly pairs: AtlasPairs;
}

/** How heads are paired; and a remark where the two were made from other texts. */
export function describePairs(beside: Beside, { say, atlas }: CardLook): readonly string[] {
  const { pairs } = beside;
  const [all, changed] = [count(pairs.pairs.length), count(pairs.changed)];
  const paired = pairs.same_architecture ? say.samePlaces(all, changed) : say.byBehaviour(all, changed);
  const [one, other] = [atlas.entry.corpus, beside.atlas.entry.corpus];
  if (one.name === other.name && one.texts + one.skipped === other.texts + other.skipped) return [paired];
  return [paired, say.otherTexts(one.name, count(one.texts), other.name, count(other.texts))];
}

/** What the two are called: by their models; where these have one name, by their folders, too. */
export function nameBoth({ atlas: other }: Beside, { atlas }: CardLook): readonly [string, string] {
  const [one, two] = [atlas.entry, other.entry];
  if (one.model.name !== two.model.name) return [one.model.name, two.model.name];
  return [`${one.id}: ${one.model.name}`, `${two.id}: ${two.model.name}`];
}

/** Pairs of different types first, then by how far they are from each other. */
export function sortPairs({ pairs }: AtlasPairs): readonly AtlasPair[] {
  const rank = (pair: AtlasPair): number => Number(pair.first.type !== pair.second.type) * 10 + pair.distance;
  return [...pairs].sort((one, other) => rank(other) - rank(one));
}

export function drawPairs(beside: Beside, look: CardLook): HTMLElement {
  const { say, atlas } = look;
  const { pairs } = beside;
  const rows = sortPairs(pairs)
    .filter((pair) => pair.changes.length > 0 || pair.first.type !== pair.second.type)
    .slice(0, MOST)
    .map((pair) => {
      const first = atlas.heads.find((head) => isHead(head, pair.first));
      const largest = pair.changes[0];
      const opener = button(look.mapName(pair.first), () => first && look.choose(first));
      opener.className = "link";
      opener.dataset.key = `pair ${pair.first.place}/${pair.first.head}`;
      return make(
        "tr",
        { "data-changed": pair.first.type !== pair.second.type },
        make("th", { scope: "row" }, opener),
        make("td", {}, nameType(atlas, pair.first.type, look)),
        make("td", {}, look.mapName(pair.second)),
        make("td", {}, nameType(beside.atlas, pair.second.type, look)),
        make("td", { class: "number" }, fixed(pair.distance, 2)),
        make(
          "td",
          {},
          largest
            ? say.change(
                nameType(atlas, largest.detector, look),
                fixed(largest.first, 2),
                fixed(largest.second, 2),
              )
            : "–",
        ),
      );
    });
  if (rows.length === 0) return drawPart(say.pairs, make("p", {}, say.noneDiffers));
  const [here, there] = nameBoth(beside, look);
  const columns = [
    `${here} (${say.here})`,
    say.type,
    `${there} (${say.there})`,
    say.type,
    say.distance,
    say.largest,
  ];
  const header = columns.map((each) => make("th", { scope: "col" }, each));
  return drawPart(
    say.pairs,
    make(
      "div",
      { class: "scroll" },
      make(
        "table",
        { class: "pairs" },
        make("thead", {}, make("tr", {}, ...header)),
        make("tbody", {}, ...rows),
      ),
    ),
  );
}

type Found = AtlasPair["first"];

export function isHead(head: AtlasHead, { place, head: number }: Pick<Found, "place" | "head">): boolean {
  return head.place === place && head.head === number;
}
