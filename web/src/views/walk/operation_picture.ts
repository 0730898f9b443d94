/**
 * One operation on paper: its equation, its matrices as they stand on the screen, the arithmetic of a cell.
 *
 * In:   a layout whose matrices are drawn, lines of text.
 * Out:  SVG with its size.
 */

import type { Theme } from "../../core/view";
import { inks, label, wrap } from "../../marks/paper";
import type { Drawn } from "./context";
import type { Item, Plan } from "./layout";
import { LABELS } from "./look";

type DrawnItem = Item & Drawn;

export function writeOperation(
  kind: Plan["kind"],
  items: readonly DrawnItem[],
  equation: string,
  arithmetic: readonly string[], // its first line names the cell
  theme: Theme,
): Drawn {
  const ink = inks(theme);
  const matrices = kind === "cross" ? writeCross(items) : writeRow(items, kind === "beside", ink.ink);
  let body = label(equation, 0, 12, { fill: ink.soft, size: 12 });
  body += `<g transform="translate(0 28)">${matrices.body}</g>`;
  let height = 28 + matrices.height;
  const width = Math.max(320, matrices.width);
  arithmetic.forEach((line, at) => {
    for (const part of wrap(line, width)) {
      body += label(part, 0, height + 12, { fill: at === 0 ? ink.ink : ink.soft, size: 11 });
      height += 18;
    }
  });
  return { body, width, height };
}

/** Rows of the left factor meet columns of the upper one in the result. */
function writeCross(items: readonly DrawnItem[]): Drawn {
  const left = items.find((item) => item.place === "left")!;
  const x = left.width + 28;
  let [body, width, y] = ["", 0, 0];
  for (const item of items) {
    if (item === left) continue;
    const shift = item.panel.grid.row === null ? LABELS : 0; // columns stand above each other
    body += `<g transform="translate(${x + shift} ${y})">${item.body}</g>`;
    if (item.place === "result")
      body += `<g transform="translate(0 ${y + item.height - left.height})">${left.body}</g>`;
    y += item.height + 16;
    width = Math.max(width, x + shift + item.width);
  }
  return { body, width, height: y };
}

/** One beside the other, or one below the other. */
function writeRow(items: readonly DrawnItem[], beside: boolean, fill: string): Drawn {
  let [body, width, x, y, high] = ["", 0, 0, 0, 0];
  for (const item of items) {
    if (item.sign) body += label(item.sign, x, y + (beside ? item.height / 2 : 12), { fill, size: 14 });
    const shift = item.sign && beside ? 24 : 0;
    body += `<g transform="translate(${x + shift} ${y})">${item.body}</g>`;
    width = Math.max(width, x + shift + item.width);
    if (beside) {
      x += shift + item.width + 20;
      high = Math.max(high, item.height + 16);
    } else y += item.height + 16;
  }
  return { body, width, height: y + high };
}
