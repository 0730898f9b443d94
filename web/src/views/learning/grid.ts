/**
 * Heads by steps as coloured cells: one block for each attention map, all over one axis and one scale of colours.
 *
 * In:   the statistics of a run's heads, which of them, how wide the picture may be.
 * Out:  an SVG picture, and which head and step lie at a point.
 */

import type { RunHeads } from "../../api/types";
import { count } from "../../core/formats";
import { type CellLook, type ColourScale, drawCells } from "../../marks/cells";
import { draw, drawChart, drawText } from "../../marks/make";
import type { Inks } from "../../marks/paper";
import { reach } from "../../marks/sparkline";

export interface Spot {
  readonly map: number; // its place among the blocks
  readonly head: number;
  readonly look: number; // of the monitor, by its number
}

export interface DrawnGrid {
  readonly element: SVGSVGElement;
  readonly height: number;
  at(x: number, y: number): Spot | null;
}

export interface GridLook {
  readonly width: number;
  readonly inks: Inks;
  readonly title: string;
  readonly scale: ColourScale;
  readonly chosen: Spot | null;
  readonly focus: number | null; // a step
  mapName(heads: RunHeads): string;
}

const [LEFT, RIGHT, HEADING, BETWEEN, BELOW] = [36, 8, 18, 8, 20];

/** The least and the largest value of a statistic in a run. */
export function reachOf(blocks: readonly RunHeads[], statistic: string): readonly [number, number] | null {
  return reach(blocks.flatMap(({ statistics }) => statistics[statistic]?.flat() ?? []));
}

export function drawGrid(blocks: readonly RunHeads[], statistic: string, look: GridLook): DrawnGrid {
  const { width, inks, scale, chosen } = look;
  const rows = blocks.reduce((sum, { heads }) => sum + heads, 0);
  const tall = rows > 96 ? 7 : rows > 32 ? 10 : 14; // of a row
  const room = width - LEFT - RIGHT;
  const steps = longest(blocks);
  const wide = room / Math.max(1, steps.length);
  const tops: number[] = [];
  const element = drawChart(width, 0, look.title);
  let y = 0;
  blocks.forEach((block, map) => {
    const values = block.statistics[statistic] ?? [];
    element.append(drawText(look.mapName(block), LEFT, y + 13, inks.soft));
    y += HEADING;
    tops.push(y);
    const cells: CellLook = {
      rows: block.heads,
      columns: values.length,
      wide,
      tall,
      colour: (row, column) => scale.css(values[column]?.[row]) ?? "none",
    };
    const group = drawCells(cells);
    group.setAttribute("transform", `translate(${LEFT} ${y})`);
    const every = tall < 10 ? 4 : 1;
    for (let head = 0; head < block.heads; head += every)
      element.append(drawText(`H${head}`, LEFT - 4, y + (head + 0.5) * tall + 4, inks.faint, "end"));
    element.append(group);
    if (chosen?.map === map) {
      const at = { x: LEFT, y: y + chosen.head * tall, width: room, height: tall };
      element.append(draw("rect", { ...at, fill: "none", stroke: inks.accent, "stroke-width": 1.5 }));
    }
    y += block.heads * tall + BETWEEN;
  });
  element.append(...drawSteps(steps, look, wide, y));
  const height = y + BELOW;
  element.setAttribute("height", String(height));
  element.setAttribute("viewBox", `0 0 ${width} ${height}`);
  return {
    element,
    height,
    at(x, py) {
      const map = tops.findLastIndex((top) => py >= top);
      const block = blocks[map];
      if (!block) return null;
      const head = Math.floor((py - tops[map]!) / tall);
      const index = Math.floor((x - LEFT) / wide);
      if (head >= block.heads || index < 0 || index >= block.steps.length) return null;
      return { map, head, look: index };
    },
  };
}

/** The steps of the block that was looked at most often. */
function longest(blocks: readonly RunHeads[]): readonly number[] {
  return blocks.reduce<readonly number[]>(
    (most, { steps }) => (steps.length > most.length ? steps : most),
    [],
  );
}

function drawSteps(
  steps: readonly number[],
  { width, inks, focus }: GridLook,
  wide: number,
  y: number,
): SVGElement[] {
  const every = Math.max(1, Math.ceil(steps.length / (width < 420 ? 4 : 8)));
  const parts: SVGElement[] = [];
  for (let at = 0; at < steps.length; at += every)
    parts.push(drawText(count(steps[at]!), LEFT + (at + 0.5) * wide, y + 10, inks.soft, "middle"));
  const near = focus === null ? -1 : steps.findIndex((step) => step >= focus);
  if (near >= 0) {
    const x = LEFT + (near + 0.5) * wide;
    parts.push(draw("line", { x1: x, x2: x, y1: 0, y2: y - BETWEEN, stroke: inks.accent }));
  }
  return parts;
}
