/**
 * Every head of a family as one coloured cell: layers down, heads across.
 *
 * In:   a value for each layer and head.
 * Out:  an SVG group; `headAt` says which cell a place belongs to.
 */

import type { ColourScale } from "./cells";
import { draw, drawText } from "./make";
import type { Inks } from "./paper";
import { textWidth } from "./text";

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
  readonly scale: Pick<ColourScale, "css">;
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
  return [
    Math.max(LEFT + heads * cell + 4, Math.ceil(textWidth(title, 13.5))),
    TOP + layers.length * cell + 4,
  ];
}

export function drawHeadGrid(cells: readonly HeadCell[], look: HeadGridLook): SVGGElement {
  const group = draw("g", { class: "head-grid" }, ...drawNames(look), ...drawNumbers(look));
  let mark: SVGElement | null = null;
  for (const each of cells) {
    group.append(drawCell(each, look));
    if (each.chosen) mark = drawMark(each, look);
  }
  if (mark !== null) group.append(mark); // above the cells beside it
  return group;
}

function drawNames({ title, names, heads, cell, inks }: HeadGridLook): SVGElement[] {
  const small = { "font-size": 10 };
  return [
    drawText(title, 0, 12, inks.ink, "start", { "font-size": 12, "font-weight": 600 }),
    drawText(names.layer, LEFT - 6, TOP - 6, inks.faint, "end", small),
    drawText(names.head, LEFT + heads * cell, TOP - 18, inks.faint, "end", small),
  ];
}

/** Heads above the columns and layers beside the rows, as many as there is room for. */
function drawNumbers({ layers, heads, cell, inks }: HeadGridLook): SVGElement[] {
  const small = { "font-size": 10 };
  const every = Math.max(1, Math.ceil(16 / cell));
  const numbers: SVGElement[] = [];
  for (let head = 0; head < heads; head += every) {
    const x = LEFT + (head + 0.5) * cell;
    numbers.push(drawText(head, x, TOP - 6, inks.soft, "middle", small));
  }
  for (let row = 0; row < layers.length; row += every) {
    const y = TOP + (row + 0.5) * cell + 4;
    numbers.push(drawText(layers[row]!, LEFT - 6, y, inks.soft, "end", small));
  }
  return numbers;
}

function cornerOf({ layer, head }: HeadCell, { cell, layers }: HeadGridLook): readonly [number, number] {
  return [LEFT + head * cell, TOP + layers.indexOf(layer) * cell];
}

function drawCell(of: HeadCell, look: HeadGridLook): SVGElement {
  const [x, y] = cornerOf(of, look);
  const inset = look.cell >= 10 ? 0.5 : 0;
  const side = look.cell - 2 * inset;
  return draw(
    "rect",
    {
      x: x + inset,
      y: y + inset,
      width: side,
      height: side,
      fill: look.scale.css(of.value) ?? look.none,
      "data-layer": of.layer,
      "data-head": of.head,
    },
    draw("title", {}, of.title),
  );
}

function drawMark(of: HeadCell, look: HeadGridLook): SVGElement {
  const [x, y] = cornerOf(of, look);
  const side = look.cell + 1;
  const line = { fill: "none", stroke: look.inks.ink, "stroke-width": 2, rx: 1 };
  return draw("rect", { x: x - 0.5, y: y - 0.5, width: side, height: side, ...line });
}
