/**
 * One matrix on paper: cells, numbers, names, and what is lit.
 *
 * In:   a Grid, its Look, what is lit.
 * Out:  SVG with its size.
 */

import { pick } from "../../marks/colours";
import { escapeText, figure, inks, label } from "../../marks/paper";
import { clip, isWide } from "../../marks/text";
import type { Drawn } from "./context";
import { LABELS, type Lit, type Look, type Size, sizeOf, turns } from "./look";
import { pixelsOf } from "./pixels";
import { brief, coloursOf, type Grid, inkOn, place, shapeText } from "./values";

const TOP = 64; // pixels for upright column names
const RECTS = 2500; // cells that an SVG holds one by one

export function writeMatrix(grid: Grid, look: Look, lit: Lit): Drawn {
  const ink = inks(look.theme);
  const size = sizeOf(grid, look);
  const left = grid.row === null ? 0 : LABELS;
  const top = 24 + (size.columns ? (size.upright ? TOP : 16) : 0);
  const title = `${look.symbol}   ${shapeText(look.shape ?? [grid.rows, grid.columns])}`;
  let body = label(title, left, 12, { fill: ink.ink, size: 12, weight: 600 });
  if (size.rows > 0) body += writeRowNames(grid, look, size.rows, left, top, ink.soft);
  if (size.columns) body += writeColumnNames(grid, look, left, top, ink.soft);
  for (const { from, to, colour } of look.bands ?? [])
    body += `<rect x="${figure(left + from * look.cellWidth)}" y="${top - 6}" width="${figure((to - from) * look.cellWidth)}" height="4" fill="${colour()}"/>`;
  const cells = writeCells(grid, look, size) + writeLit(lit, look, size, ink.accent);
  body += `<g transform="translate(${left} ${top})">${cells}</g>`;
  return { body, width: left + size.width, height: top + size.height };
}

function writeRowNames(
  grid: Grid,
  { cellHeight }: Look,
  every: number,
  left: number,
  top: number,
  fill: string,
): string {
  let body = "";
  for (let row = 0; row < grid.rows; row += every) {
    const y = top + (row + 0.5) * cellHeight + 4;
    body += label(clip(grid.row!(row), 11), left - 6, y, { fill, size: 11, anchor: "end" });
  }
  return body;
}

function writeColumnNames(grid: Grid, { cellWidth }: Look, left: number, top: number, fill: string): string {
  let body = "";
  for (let column = 0; column < grid.columns; column++) {
    const x = left + (column + 0.5) * cellWidth;
    const name = grid.column!(column);
    const text = escapeText(clip(name, 11));
    const lying = (letters: string, y: number) =>
      `<text x="${figure(x)}" y="${y}" font-size="11" fill="${fill}" text-anchor="middle">${letters}</text>`;
    if (!turns(name, cellWidth)) body += lying(text, top - 4);
    else if (isWide(name)) {
      const letters = [...name].slice(0, 5);
      letters.forEach((letter, at) => {
        body += lying(escapeText(letter), top - 4 - 12 * (letters.length - 1 - at));
      });
    } else
      body += `<text transform="translate(${figure(x + 4)} ${top - 4}) rotate(-90)" font-size="11" fill="${fill}">${text}</text>`;
  }
  return body;
}

function writeCells(grid: Grid, look: Look, { width, height, numbers }: Size): string {
  const ink = inks(look.theme);
  const border = `<rect width="${width}" height="${height}" fill="none" stroke="${ink.line}"/>`;
  if (grid.values.length > RECTS) {
    const url = pixelsOf(grid, look.theme)?.toDataURL?.("image/png") ?? "";
    return `<image width="${width}" height="${height}" preserveAspectRatio="none" image-rendering="pixelated" href="${url}"/>${border}`;
  }
  const table = coloursOf(grid, look.theme);
  const { cellWidth, cellHeight } = look;
  let body = "";
  for (let at = 0; at < grid.values.length; at++) {
    const [row, column] = [Math.floor(at / grid.columns), at % grid.columns];
    const [x, y] = [column * cellWidth, row * cellHeight];
    const value = grid.values[at]!;
    const where = place(grid, value);
    const colour = where === null ? ink.line : pick(table, where);
    body += `<rect x="${figure(x)}" y="${figure(y)}" width="${figure(cellWidth)}" height="${figure(cellHeight)}" fill="${colour}"/>`;
    if (numbers) {
      const style = { fill: inkOn(grid, value, look.theme), size: 10, anchor: "middle" } as const;
      body += label(brief(value), x + cellWidth / 2, y + cellHeight / 2 + 4, style);
    }
  }
  return body + border;
}

function writeLit(
  { row, column }: Lit,
  { cellWidth: w, cellHeight: h }: Look,
  size: Size,
  colour: string,
): string {
  if (row === undefined && column === undefined) return "";
  const [x, wide] = column === undefined ? [0, size.width] : [column * w, w];
  const [y, high] = row === undefined ? [0, size.height] : [row * h, h];
  return `<rect x="${figure(x)}" y="${figure(y)}" width="${figure(wide)}" height="${figure(high)}" fill="none" stroke="${colour}" stroke-width="2"/>`;
}
