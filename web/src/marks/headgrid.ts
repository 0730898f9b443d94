/**
 * Every head of a family as one coloured cell: layers down, heads across.
 *
 * In:   a value for each layer and head.
 * Out:  an SVG group; `headAt` says which cell a place belongs to.
 */

import type { ColourScale } from "./cells";
import { digits } from "./digits";
import { draw } from "./make";
import type { Inks } from "./paper";

export interface HeadCell {
  readonly layer: number;
  readonly head: number;
  readonly value: number | null;
  readonly title: string;
  readonly chosen: boolean;
}

export interface HeadGridLook {
  readonly title: string;
  readonly layers: readonly number[];
  readonly heads: number;
  readonly cell: number; // side of a cell
  readonly scale: ColourScale;
  readonly inks: Inks;
  readonly none: string; // fill where there is no value
  readonly names: { readonly layer: string; readonly head: string };
}

const LEFT = 34;
const TOP = 40;

export function gridSize({
  layers,
  heads,
  cell,
  title,
}: Pick<HeadGridLook, "layers" | "heads" | "cell" | "title">): readonly [number, number] {
  const words = [...title].reduce((sum, letter) => sum + (letter > "\u2e7f" ? 12 : 7.2), 0);
  return [Math.max(LEFT + heads * cell + 4, Math.ceil(words)), TOP + layers.length * cell + 4];
}

export function drawHeadGrid(cells: readonly HeadCell[], look: HeadGridLook): SVGGElement {
  const { cell, inks, layers } = look;
  const group = draw("g", { class: "head-grid" });
  group.append(
    draw("text", { x: 0, y: 12, fill: inks.ink, "font-size": 12, "font-weight": 600 }, look.title),
    draw(
      "text",
      { x: LEFT - 6, y: TOP - 6, fill: inks.faint, "font-size": 10, "text-anchor": "end" },
      look.names.layer,
    ),
    draw(
      "text",
      { x: LEFT + look.heads * cell, y: TOP - 18, fill: inks.faint, "font-size": 10, "text-anchor": "end" },
      look.names.head,
    ),
  );
  const every = Math.max(1, Math.ceil(16 / cell));
  for (let head = 0; head < look.heads; head += every) {
    group.append(
      draw(
        "text",
        {
          x: LEFT + (head + 0.5) * cell,
          y: TOP - 6,
          fill: inks.soft,
          "font-size": 10,
          "text-anchor": "middle",
        },
        head,
      ),
    );
  }
  layers.forEach((layer, row) => {
    if (row % every === 0) {
      group.append(
        draw(
          "text",
          {
            x: LEFT - 6,
            y: TOP + (row + 0.5) * cell + 4,
            fill: inks.soft,
            "font-size": 10,
            "text-anchor": "end",
          },
          layer,
        ),
      );
    }
  });
  let mark: SVGElement | null = null;
  for (const { layer, head, value, title, chosen } of cells) {
    const row = layers.indexOf(layer);
    const [x, y] = [LEFT + head * cell, TOP + row * cell];
    const inset = cell >= 10 ? 0.5 : 0;
    const rect = draw("rect", {
      x: x + inset,
      y: y + inset,
      width: cell - 2 * inset,
      height: cell - 2 * inset,
      fill: look.scale.css(value) ?? look.none,
      "data-layer": layer,
      "data-head": head,
    });
    rect.append(draw("title", {}, title));
    group.append(rect);
    if (chosen)
      mark = draw("rect", {
        x: x - 0.5,
        y: y - 0.5,
        width: cell + 1,
        height: cell + 1,
        fill: "none",
        stroke: inks.ink,
        "stroke-width": 2,
        rx: 1,
      });
  }
  if (mark !== null) group.append(mark);
  return group;
}

/** A cell in words, for its title. */
export function cellTitle(place: string, value: number | null, unit: string, why: string | null): string {
  return value === null ? `${place}: ${why ?? "–"}` : `${place}: ${digits(value)} ${unit}`;
}
