/**
 * Effects of heads as cells: a table of layers by heads for each family of maps, coloured on both sides of zero.
 *
 * In:   what was found, a colour scale, the head in focus.
 * Out:  a table whose cells can be chosen; the same as SVG for pictures. Estimates are hatched; what lies beyond the
 *       colours (their range is that of single heads) has a frame.
 */

import { digits } from "../../core/formats";
import { type Place, readPlace } from "../../core/place";
import type { ColourScale } from "../../marks/cells";
import { draw, drawText, make } from "../../marks/make";
import type { Inks } from "../../marks/paper";
import { type Effect, known, type MapEffects } from "./found";
import type { Words } from "./words";

export interface Row extends MapEffects {
  readonly at: Place;
}

/** The maps of one stack and kind, layer by layer. */
export interface Block {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly heads: number;
}

export function makeBlocks(maps: readonly MapEffects[], name: (place: Place) => string): readonly Block[] {
  const blocks = new Map<string, Row[]>();
  for (const map of maps) {
    const at = readPlace(map.place)!;
    const title = name(at);
    blocks.set(title, [...(blocks.get(title) ?? []), { ...map, at }]);
  }
  return [...blocks].map(([title, rows]) => ({
    title,
    rows,
    heads: Math.max(...rows.map(({ heads }) => heads.length)),
  }));
}

/** Whether a value has the last colour without being it. */
export function isBeyond(value: number | null, { domain }: ColourScale): boolean {
  return value !== null && Math.abs(value) > domain[1];
}

export function cellLook(effect: Effect, scale: ColourScale): string {
  const estimate = effect.measured === null ? " estimate" : "";
  return `effects-cell${estimate}${isBeyond(known(effect), scale) ? " beyond" : ""}`;
}

export interface GridLook {
  readonly say: Words;
  readonly scale: ColourScale;
  readonly chosen: string; // "decoder.self.3 2": the head in focus
  name(row: Row, head: number | null): string;
  choose(row: Row, head: number): void;
}

export function makeTable({ title, rows, heads }: Block, look: GridLook): HTMLElement {
  const { say } = look;
  const names = [...Array(heads).keys()].map((head) => make("th", { scope: "col" }, `H${head}`));
  const header = make("tr", {}, make("td"), ...names, make("th", { scope: "col" }, say.layerColumn));
  const body = rows.map((row) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, say.layerRow(row.at.layer)),
      ...row.heads.map((effect, head) => makeCell(row, head, effect, look)),
      ...Array.from({ length: heads - row.heads.length }, () => make("td")),
      makeCell(row, null, row.layer, look),
    ),
  );
  return make(
    "table",
    { class: "effects-grid" },
    make("caption", {}, title),
    make("thead", {}, header),
    make("tbody", {}, ...body),
  );
}

function makeCell(row: Row, head: number | null, effect: Effect, look: GridLook): HTMLElement {
  const value = known(effect);
  if (value === null) return make("td");
  const place = `${row.place} ${head}`;
  const said = look.say.cell(look.name(row, head), digits(value), effect.measured !== null);
  const attributes = {
    class: cellLook(effect, look.scale),
    style: { "background-color": look.scale.css(value)!, color: look.scale.ink(value)! },
    title: said,
    "aria-label": said,
    "data-key": place,
    "data-effect": value,
    "data-confirmed": String(effect.measured !== null),
  };
  const text = digits(value, 2);
  if (head === null) return make("td", { class: "effects-layer" }, make("span", attributes, text));
  return make(
    "td",
    {},
    make(
      "button",
      {
        type: "button",
        ...attributes,
        "aria-pressed": String(place === look.chosen),
        onclick: () => look.choose(row, head),
      },
      text,
    ),
  );
}

const [WIDE, TALL, LEFT, TITLE, GAP] = [44, 22, 64, 34, 14];

/** All tables as one drawing. */
export function drawBlocks(
  blocks: readonly Block[],
  scale: ColourScale,
  inks: Inks,
  say: Words,
): { readonly group: SVGGElement; readonly width: number; readonly height: number } {
  const group = draw("g");
  let y = 0;
  for (const { title, rows, heads } of blocks) {
    group.append(drawText(title, 0, y + 12, inks.ink));
    for (let head = 0; head <= heads; head++)
      group.append(
        drawText(
          head === heads ? say.layerColumn : `H${head}`,
          LEFT + (head + 0.5) * WIDE,
          y + 28,
          inks.soft,
          "middle",
        ),
      );
    y += TITLE;
    for (const row of rows) {
      group.append(drawText(say.layerRow(row.at.layer), 0, y + 15, inks.soft));
      [...row.heads, row.layer].forEach((effect, column) => {
        const value = known(effect);
        if (value === null) return;
        const x = LEFT + (column < row.heads.length ? column : heads) * WIDE;
        const box = { x, y, width: WIDE - 2, height: TALL - 2 };
        group.append(draw("rect", { ...box, fill: scale.css(value)! }));
        const ink = scale.ink(value)!;
        if (effect.measured === null) {
          const lines = [0, 1, 2, 3].map((at) => `M${x + 11 * at} ${y + TALL - 2}l9 -20`).join("");
          group.append(draw("path", { d: lines, stroke: ink, "stroke-opacity": 0.35, fill: "none" }));
        }
        if (isBeyond(value, scale)) {
          const inside = { x: x + 2, y: y + 2, width: WIDE - 6, height: TALL - 6 };
          group.append(draw("rect", { ...inside, fill: "none", stroke: ink, "stroke-width": 1.5 }));
        }
        group.append(drawText(digits(value, 2), x + WIDE / 2 - 1, y + 14, ink, "middle"));
      });
      y += TALL;
    }
    y += GAP;
  }
  const widest = Math.max(1, ...blocks.map(({ heads }) => heads));
  return { group, width: LEFT + (widest + 1) * WIDE, height: y };
}
