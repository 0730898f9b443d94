/**
 * Every head as a small curve over steps, side by side: small multiples with one axis for all.
 *
 * In:   a statistic of a run's heads, as for the grid.
 * Out:  an SVG picture, and which head and step lie at a point.
 */

import { figure } from "../../core/formats";
import { linear } from "../../core/maths/scale";
import { thin } from "../../marks/curves";
import { draw, drawChart, drawText } from "../../marks/make";
import { type Block, type GridLook, lookAt, type Spot } from "./grid";

export interface DrawnMultiples {
  readonly element: SVGSVGElement;
  readonly height: number;
  at(x: number, y: number): Spot | null;
}

const [HEADING, BETWEEN, GAP, TALL, LEAST] = [20, 10, 6, 58, 84];
const LABEL = 16; // pixels above a curve

export function drawMultiples(
  blocks: readonly Block[],
  look: Omit<GridLook, "scale"> & { ink(head: number): string },
  reach: readonly [number, number] | null,
): DrawnMultiples {
  const { width, inks, chosen, focus } = look;
  const most = Math.max(1, ...blocks.map(({ map }) => map.heads));
  const columns = Math.max(1, Math.min(most, Math.floor((width + GAP) / (LEAST + GAP))));
  const wide = Math.floor((width + GAP) / columns) - GAP;
  const across = linear([look.span[0], Math.max(look.span[1], look.span[0] + 1)], [0, wide]);
  const [low, high] = reach ?? [0, 1];
  const up = linear(high > low ? [low, high] : [low - 0.5, low + 0.5], [TALL - 4, LABEL + 2]);
  const boxes: { readonly block: number; readonly head: number; readonly x: number; readonly y: number }[] =
    [];
  const element = drawChart(width, 0, look.title);
  let y = 0;
  blocks.forEach(({ map, steps, values }, block) => {
    element.append(drawText(look.mapName(map), 0, y + 13, inks.soft));
    y += HEADING;
    for (let head = 0; head < map.heads; head++) {
      const [row, column] = [Math.floor(head / columns), head % columns];
      const box = { block, head, x: column * (wide + GAP), y: y + row * (TALL + GAP) };
      boxes.push(box);
      const isChosen = chosen?.block === block && chosen.head === head;
      const frame = { x: 0.5, y: 0.5, width: wide - 1, height: TALL - 1, rx: 4, fill: "none" };
      const points = thin({ steps, values: values.map((each) => each[head] ?? null) }, across, false);
      const group = draw(
        "g",
        { transform: `translate(${box.x} ${box.y})`, "data-multiple": `${map.place.address} ${head}` },
        draw("rect", {
          ...frame,
          stroke: isChosen ? inks.accent : inks.line,
          "stroke-width": isChosen ? 2 : 1,
        }),
      );
      for (const alarm of look.alarms) {
        if (alarm.block !== block || alarm.head !== head || alarm.last < look.span[0]) continue;
        const from = Math.max(0, across(alarm.first));
        const size = Math.max(2, Math.min(wide, across(alarm.last)) - from);
        if (from > wide) continue;
        const bar = { x: from, y: 1, width: size, height: TALL - 2, fill: look.warn, "fill-opacity": 0.18 };
        group.append(draw("rect", bar, draw("title", {}, alarm.text)));
      }
      let path = "";
      points.values.forEach((value, at) => {
        if (Number.isNaN(value)) return;
        const pen = at > 0 && !Number.isNaN(points.values[at - 1]!);
        const x = Math.max(0, Math.min(wide, across(points.steps[at]!)));
        path += `${pen ? "L" : "M"}${figure(x, 1)} ${figure(up(value), 1)}`;
      });
      group.append(
        draw("path", {
          d: path,
          fill: "none",
          stroke: look.ink(head),
          "stroke-width": 1.5,
          "stroke-linejoin": "round",
        }),
        drawText(`H${head}`, 5, 13, isChosen ? inks.ink : inks.faint),
      );
      if (focus !== null && focus >= look.span[0] && focus <= look.span[1])
        group.append(
          draw("line", {
            x1: across(focus),
            x2: across(focus),
            y1: 1,
            y2: TALL - 1,
            stroke: inks.accent,
            "stroke-opacity": 0.6,
          }),
        );
      element.append(group);
    }
    y += Math.ceil(map.heads / columns) * (TALL + GAP) + BETWEEN;
  });
  element.setAttribute("height", String(y));
  element.setAttribute("viewBox", `0 0 ${width} ${y}`);
  return {
    element,
    height: y,
    at(x, py) {
      const box = boxes.find(
        (each) => x >= each.x && x < each.x + wide && py >= each.y && py < each.y + TALL,
      );
      if (!box) return null;
      const { steps } = blocks[box.block]!;
      const look = Math.min(steps.length - 1, lookAt({ steps }, across.back(x - box.x)));
      return { block: box.block, head: box.head, look };
    },
  };
}
