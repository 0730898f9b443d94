/**
 * The arrows in the diagram of a recurrent network.
 *
 * In:   arrows of the plan, and where the blocks stand.
 * Out:  lines: what is read straight up or round a block, states that go back for the next word, and what
 *       the encoder hands over.
 */

import type { WalkPlan } from "../../api/types";
import { draw } from "../../marks/make";

export const EDGE = 24; // pixels beside a column, for the arrows

export interface Box {
  readonly x: number;
  readonly y: number; // of its middle
  readonly high: number;
  readonly wide: number;
}

type Arrow = WalkPlan["diagram"]["arrows"][number];

const GAP = 24; // between the rows

export function drawArrows(arrows: readonly Arrow[], boxes: ReadonlyMap<string, Box>): SVGGElement {
  const lines = draw("g", { class: "walk-lines", "aria-hidden": "true" });
  const memories = arrows.filter((arrow) => arrow.kind === "memory");
  for (const arrow of arrows) {
    const [from, to] = [boxes.get(arrow.start), boxes.get(arrow.end)];
    if (from === undefined || to === undefined) continue;
    const path =
      arrow.kind === "state"
        ? goBack(from, to)
        : arrow.kind === "memory"
          ? handOver(from, to, memories.indexOf(arrow))
          : goUp(from, to);
    lines.append(draw("path", { class: `walk-arrow walk-${arrow.kind}`, d: path }));
  }
  return lines;
}

const top = ({ y, high }: Box): number => y - high / 2;
const bottom = ({ y, high }: Box): number => y + high / 2;
const middle = ({ x, wide }: Box): number => x + wide / 2;
const right = ({ x, wide }: Box): number => x + wide;

/** The head of an arrow at a point, for a line that comes from below, from the left or from the right. */
function head(x: number, y: number, from: "below" | "left" | "right"): string {
  if (from === "below") return `M${x - 3} ${y + 5}L${x} ${y}L${x + 3} ${y + 5}`;
  const back = from === "left" ? -5 : 5;
  return `M${x + back} ${y - 3}L${x} ${y}L${x + back} ${y + 3}`;
}

/** To the row above straight, past other rows on the right. */
function goUp(from: Box, to: Box): string {
  if (top(from) - bottom(to) <= GAP) {
    const x = from.wide < to.wide ? middle(from) : middle(to);
    return `M${x} ${top(from)}V${bottom(to)}${head(x, bottom(to), "below")}`;
  }
  const beside = right(to) + 16;
  const y = to.y + 8;
  return `M${right(from)} ${from.y}H${beside}V${y}H${right(to)}${head(right(to), y, "right")}`;
}

/** What a cell leaves for the next word: back into itself, or down to the attention that looks back with it. */
function goBack(from: Box, to: Box): string {
  const [x, beside] = [right(from), right(from) + 7];
  const y = from === to ? from.y + 2 : to.y;
  return `M${x} ${from.y - 8}H${beside}V${y}H${right(to)}${head(right(to), y, "right")}`;
}

/** From the encoder, between the columns, into the left of a block; each on a line of its own. */
function handOver(from: Box, to: Box, place: number): string {
  const between = to.x - 30 + 8 * place;
  const y = to.y + (place % 2 === 0 ? 0 : 5);
  return `M${right(from)} ${from.y}H${between}V${y}H${to.x}${head(to.x, y, "left")}`;
}
