/**
 * All heads of a stack and kind as squares: layers down, heads across; each is a button with its words.
 *
 * In:   heads, how they are coloured, which is chosen, which are left out by a search.
 * Out:  a table. Arrows move through it; one square is in the tab order.
 */

import type { AtlasHead } from "../../api/types";
import { type Place, readPlace } from "../../core/place";
import { ARROWS, consume } from "../../marks/keys";
import { make, setStyle } from "../../marks/make";
import type { Colouring } from "./colouring";
import type { Words } from "./words";

export interface Family {
  readonly key: string; // "decoder.self"
  readonly place: Place; // of its first layer
  readonly layers: readonly number[];
  readonly heads: readonly AtlasHead[];
}

export function layerOf({ place }: Pick<AtlasHead, "place">): number {
  return readPlace(place)?.layer ?? 0;
}

/** Heads by stack and kind, in their order. */
export function familiesOf(heads: readonly AtlasHead[]): readonly Family[] {
  const families = new Map<string, AtlasHead[]>();
  for (const head of heads) {
    const key = head.place.slice(0, head.place.lastIndexOf("."));
    families.set(key, [...(families.get(key) ?? []), head]);
  }
  return [...families].map(([key, all]) => ({
    key,
    place: readPlace(all[0]!.place) ?? { stack: key, kind: "self", layer: 0, step: null },
    layers: [...new Set(all.map(layerOf))].sort((a, b) => a - b),
    heads: all,
  }));
}

export interface MapLook {
  readonly say: Words;
  readonly label: string;
  readonly colouring: Colouring;
  readonly chosen: AtlasHead | null;
  readonly unit: number; // side of a square
  readonly keys: string; // in front of the keys of squares: a second map on the page has its own
  shown(head: AtlasHead): boolean;
  marked(head: AtlasHead): boolean;
  choose(head: AtlasHead): void;
}

export function drawMap(family: Family, look: MapLook): HTMLElement {
  const { say, label } = look;
  const columns = Math.max(...family.heads.map(({ head }) => head)) + 1;
  const within = family.heads.includes(look.chosen!);
  const first = within ? look.chosen : family.heads[0];
  const header = Array.from({ length: columns }, (_, head) => make("th", { scope: "col" }, head));
  const rows = family.layers.map((layer) => {
    const cells = Array.from({ length: columns }, (_, number) => {
      const head = family.heads.find((each) => each.head === number && layerOf(each) === layer);
      return make("td", {}, head && drawCell(head, layer, look, head === first));
    });
    return make("tr", {}, make("th", { scope: "row" }, layer), ...cells);
  });
  const corner = make("td", { class: "corner", "aria-hidden": "true" }, `${say.layer} ↓ ${say.head} →`);
  const table = make(
    "table",
    { class: "map", onkeydown: (event: KeyboardEvent) => move(event) },
    make("caption", {}, label),
    make("thead", {}, make("tr", {}, corner, ...header)),
    make("tbody", {}, ...rows),
  );
  setStyle(table, { "--unit": `${look.unit}px` });
  return make("div", { class: "scroll" }, table);
}

function drawCell(head: AtlasHead, layer: number, look: MapLook, inOrder: boolean): HTMLButtonElement {
  const { colouring, say } = look;
  const fill = colouring.fill(head);
  const name = say.cell(layer, head.head, colouring.describe(head));
  const button = make(
    "button",
    {
      type: "button",
      class: "head-cell",
      "aria-label": name,
      title: name,
      "aria-pressed": String(head === look.chosen),
      tabindex: inOrder ? 0 : -1,
      "data-key": `${look.keys}${head.place}/${head.head}`,
      "data-out": !look.shown(head),
      "data-marked": look.marked(head),
      "data-empty": fill === null,
      onclick: () => look.choose(head),
    },
    look.unit >= 20 ? colouring.sign(head) : "",
  );
  if (fill !== null) setStyle(button, { background: fill, color: colouring.ink(head) });
  return button;
}

/** Arrows go to the next square and choose it; Home and End to the ends of a row. */
function move(event: KeyboardEvent): void {
  const cell = (event.target as Element).closest("td");
  const row = cell?.parentElement;
  const body = row?.parentElement;
  if (!cell || !row || !body) return;
  const squares = (of: Element | undefined) => [
    ...(of?.querySelectorAll<HTMLButtonElement>(".head-cell") ?? []),
  ];
  const [down, right] = ARROWS[event.key] ?? [0, 0];
  const at = squares(row).indexOf(cell.querySelector<HTMLButtonElement>(".head-cell")!);
  let next: HTMLButtonElement | undefined;
  if (event.key === "Home" || event.key === "End") next = squares(row).at(event.key === "Home" ? 0 : -1);
  else if (down !== 0) next = squares([...body.children][[...body.children].indexOf(row) + down])[at];
  else if (right !== 0 && at + right >= 0) next = squares(row)[at + right];
  else return;
  consume(event);
  next?.focus();
  next?.click();
}
