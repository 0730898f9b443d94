/**
 * Heads by steps as coloured cells: one block for each attention map, all over one axis of steps and one scale of colours.
 *
 * In:   a statistic of a run's heads, the span of steps, how wide the picture may be, alarms about heads.
 * Out:  where everything lies; colours on a canvas or, for pictures, as SVG; names and marks above them as SVG. A cell
 *       reaches from the look of the monitor before it to its own.
 */

import type { RunMap, RunSeries } from "../../api/types";
import { count } from "../../core/formats";
import { linear, type Scale } from "../../core/maths/scale";
import { lowerBound } from "../../core/maths/search";
import type { StepSpan } from "../../core/step_span";
import { clearCanvas } from "../../marks/canvas";
import { type ColourScale, drawCells } from "../../marks/cells";
import { drawTick } from "../../marks/curves";
import { draw, drawChart, drawText } from "../../marks/make";
import type { Inks } from "../../marks/paper";
import { reach } from "../../marks/sparkline";

/** The heads of one map. */
export interface Block {
  readonly map: RunMap;
  readonly steps: readonly number[]; // of the looks, or the last ones of stretches of them
  readonly values: RunSeries["mean"]; // (look, head)
}

export interface Spot {
  readonly block: number;
  readonly head: number;
  readonly look: number; // by its place in the block's steps
}

/** An alarm about a head, from one step to another. */
export interface HeadAlarm {
  readonly block: number;
  readonly head: number;
  readonly first: number;
  readonly last: number;
  readonly text: string;
}

export interface GridLook {
  readonly width: number;
  readonly inks: Inks;
  readonly title: string;
  readonly scale: ColourScale;
  readonly span: StepSpan;
  readonly chosen: Spot | null;
  readonly focus: number | null; // a step
  readonly alarms: readonly HeadAlarm[];
  readonly warn: string; // ink of alarms
  mapName(map: RunMap): string;
}

export interface GridPlan {
  readonly blocks: readonly Block[];
  readonly look: GridLook;
  readonly across: Scale;
  readonly tops: readonly number[]; // of the blocks' cells
  readonly tall: number; // of a row
  readonly height: number;
  at(x: number, y: number): Spot | null;
}

export const [LEFT, RIGHT] = [36, 10];
const [HEADING, BETWEEN, BELOW] = [18, 8, 20];
const SAMPLES = 240; // columns of cells in a picture

/** The least and the largest value of a statistic in a run. */
export function reachOf(blocks: readonly Block[]): readonly [number, number] | null {
  return reach(blocks.flatMap(({ values }) => values.flat()));
}

/** The look that a step belongs to: the first one at or after it; as many as there are after the last. */
export function lookAt({ steps }: Pick<Block, "steps">, step: number): number {
  return lowerBound(steps, step);
}

export function planGrid(blocks: readonly Block[], look: GridLook): GridPlan {
  const { width, span } = look;
  const rows = blocks.reduce((sum, { map }) => sum + map.heads, 0);
  const tall = rows > 96 ? 7 : rows > 32 ? 10 : 14;
  const across = linear([span[0], Math.max(span[1], span[0] + 1)], [LEFT, width - RIGHT]);
  const tops: number[] = [];
  let y = 0;
  for (const { map } of blocks) {
    tops.push(y + HEADING);
    y += HEADING + map.heads * tall + BETWEEN;
  }
  return {
    blocks,
    look,
    across,
    tops,
    tall,
    height: y + BELOW,
    at(x, py) {
      const block = tops.findLastIndex((top) => py >= top);
      const found = blocks[block];
      if (!found || x < LEFT || x > width - RIGHT) return null;
      const head = Math.floor((py - tops[block]!) / tall);
      const index = lookAt(found, across.back(x));
      return head >= found.map.heads || index >= found.steps.length ? null : { block, head, look: index };
    },
  };
}

/** The cells on a canvas as large as the picture. */
export function paintGrid(canvas: HTMLCanvasElement, plan: GridPlan): void {
  const { blocks, look, across, tops, tall, height } = plan;
  const context = clearCanvas(canvas, look.width, height, true);
  if (!context) return;
  const wide = Math.max(1, Math.floor(look.width - LEFT - RIGHT));
  context.imageSmoothingEnabled = false;
  const small = document.createElement("canvas");
  const brush = small.getContext("2d");
  small.width = wide;
  blocks.forEach((block, at) => {
    const { heads } = block.map;
    small.height = heads;
    const image = new ImageData(wide, heads);
    for (let x = 0; x < wide; x++) {
      const values = block.values[lookAt(block, across.back(LEFT + x + 0.5))];
      if (!values) continue;
      for (let head = 0; head < heads; head++) {
        const place = look.scale.place(values[head]);
        if (place === null) continue;
        const to = 4 * (head * wide + x);
        image.data.set(look.scale.table.subarray(3 * place, 3 * place + 3), to);
        image.data[to + 3] = 255;
      }
    }
    brush?.putImageData(image, 0, 0);
    context.drawImage(small, LEFT, tops[at]!, wide, heads * tall);
  });
}

/** Names, alarms, the head and the step in focus; with `cells` also the cells. */
export function drawGrid(plan: GridPlan, cells: boolean): SVGSVGElement {
  const { blocks, look, across, tops, tall, height } = plan;
  const { inks, width, chosen } = look;
  const element = drawChart(width, height, look.title);
  blocks.forEach((block, at) => {
    const top = tops[at]!;
    element.append(drawText(look.mapName(block.map), LEFT, top - 5, inks.soft));
    if (cells) element.append(drawSamples(plan, at));
    const every = tall < 10 ? 4 : 1;
    for (let head = 0; head < block.map.heads; head += every)
      element.append(drawText(`H${head}`, LEFT - 4, top + (head + 0.5) * tall + 4, inks.faint, "end"));
  });
  const [first, last] = across.domain;
  for (const alarm of look.alarms) {
    const top = tops[alarm.block];
    if (top === undefined || alarm.last < first || alarm.first > last) continue;
    const y = top + (alarm.head + 1) * tall - 1.5;
    const [from, to] = [across(Math.max(first, alarm.first)), across(Math.min(last, alarm.last))];
    const d = `M${from} ${y}H${Math.max(to, from + 3)}M${from} ${y - tall + 3}V${y}`;
    element.append(
      draw("path", { d, stroke: inks.ground, "stroke-width": 4, fill: "none" }),
      draw("path", { d, stroke: look.warn, "stroke-width": 2, fill: "none" }, draw("title", {}, alarm.text)),
    );
  }
  if (chosen) {
    const y = tops[chosen.block]! + chosen.head * tall;
    const row = { x: LEFT, y, width: width - LEFT - RIGHT, height: tall };
    element.append(draw("rect", { ...row, fill: "none", stroke: inks.accent, "stroke-width": 1.5 }));
  }
  element.append(...drawSteps(plan));
  return element;
}

function drawSamples({ blocks, look, across, tops, tall }: GridPlan, at: number): SVGGElement {
  const block = blocks[at]!;
  const wide = (look.width - LEFT - RIGHT) / SAMPLES;
  const step = (column: number): number => across.back(LEFT + (column + 0.5) * wide);
  const group = drawCells({
    rows: block.map.heads,
    columns: SAMPLES,
    wide,
    tall,
    colour: (row, column) => look.scale.css(block.values[lookAt(block, step(column))]?.[row]) ?? "none",
  });
  group.setAttribute("transform", `translate(${LEFT} ${tops[at]!})`);
  return group;
}

export function drawSteps({
  look,
  across,
  height,
}: Pick<GridPlan, "look" | "across" | "height">): SVGElement[] {
  const { inks, focus, width } = look;
  const y = height - BELOW;
  const parts: SVGElement[] = across
    .ticks(width < 420 ? 3 : 8)
    .map((step) => drawTick(count(step), across(step), y + 14, inks.soft, width));
  if (focus !== null && focus >= across.domain[0] && focus <= across.domain[1]) {
    const x = across(focus);
    parts.push(draw("line", { x1: x, x2: x, y1: 0, y2: y, stroke: inks.accent }));
  }
  return parts;
}
