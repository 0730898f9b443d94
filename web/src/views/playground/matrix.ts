/**
 * A matrix: coloured cells with their numbers where there is room, labels on both sides, a colour bar below.
 *
 * In:   PlayMatrix; a cell without a number is crossed out.
 * Out:  Drawn, with a cell for each number.
 */

import type { PlayMatrix } from "../../api/types";
import { digits, fixed } from "../../core/formats";
import { type ColourScale, colourScale, drawCells, drawColourBar } from "../../marks/cells";
import { draw, drawText } from "../../marks/make";
import { isWide, textWidth } from "../../marks/text";
import { type Drawn, type Look, shorten } from "./drawing";

const LARGEST = 56; // a cell

interface Plan {
  readonly left: number;
  readonly top: number;
  readonly wide: number;
  readonly tall: number;
  readonly every: number; // columns from one name to the next
}

const SIZE = 11; // letters of labels
const LONGEST = 88; // pixels of a label that is not horizontal
const LINE = 12; // from letter to letter of a stacked one

/** How a column's label is written: horizontally where it fits, Chinese with its letters stacked, else rotated. */
export function labelDirection(label: string, room: number): "horizontal" | "stacked" | "rotated" {
  if (textWidth(label, SIZE) <= room) return "horizontal";
  return [...label].every(isWide) ? "stacked" : "rotated";
}

function labelHeight(label: string, room: number): number {
  switch (labelDirection(label, room)) {
    case "horizontal":
      return LINE;
    case "stacked":
      return Math.min([...label].length * LINE, LONGEST);
    case "rotated":
      return Math.min(textWidth(label, SIZE), LONGEST) + 4;
  }
}

export function drawMatrix(figure: PlayMatrix, look: Look): Drawn {
  const plan = planOf(figure, look);
  const { left, top, wide, tall } = plan;
  const [rows, columns] = [figure.values.length, figure.values[0]?.length ?? 0];
  const flags = figure.scale === "flags";
  const scale = colourScale(
    flags ? [0, 1.7] : [figure.low, figure.high], // a yes needs no black
    figure.scale === "diverging" ? "diverging" : "sequential",
    false,
    look.theme,
  );
  const value = (row: number, column: number) => figure.values[row]?.[column] ?? null;
  const body = draw("g", { transform: `translate(${left} ${top})` });
  body.append(
    drawCells({
      ...{ rows, columns, wide, tall },
      colour: (row, column) => scale.css(value(row, column)) ?? look.inks.ground,
    }),
    crossOut(figure, plan, look),
    ...writeNumbers(figure, plan, scale),
    draw("rect", {
      width: columns * wide,
      height: rows * tall,
      fill: "none",
      stroke: look.inks.line,
    }),
    ...figure.mark.map(([row, column]) =>
      draw("rect", {
        x: column * wide + 1,
        y: row * tall + 1,
        width: wide - 2,
        height: tall - 2,
        fill: "none",
        stroke: look.inks.accent,
        "stroke-width": 2,
        "data-mark": `${row} ${column}`,
      }),
    ),
  );
  const element = draw("g", { class: "matrix" }, ...labels(figure, plan, look), body);
  let height = top + rows * tall + 8;
  if (!flags) {
    const bar = drawColourBar(scale, Math.min(160, look.width - left), look.inks);
    bar.setAttribute("transform", `translate(${left} ${height + 4})`);
    element.append(bar);
    height += 34;
  }
  return {
    element,
    height,
    rows,
    columns,
    spot: (row, column) => {
      if (row >= rows || column >= columns) return null; // of a matrix that was larger
      const number = value(row, column);
      const names = `${nameOf(figure, "rows", row, look)} · ${nameOf(figure, "columns", column, look)}`;
      const words = number === null ? look.none : flags ? (number > 0 ? "✓" : "✗") : digits(number);
      return {
        x: left + column * wide,
        y: top + row * tall,
        width: wide,
        height: tall,
        text: `${names}: ${words}`,
      };
    },
    at: (x, y) => {
      const [row, column] = [Math.floor((y - top) / tall), Math.floor((x - left) / wide)];
      return row >= 0 && row < rows && column >= 0 && column < columns ? [row, column] : null;
    },
  };
}

function nameOf(figure: PlayMatrix, axis: "rows" | "columns", at: number, look: Look): string {
  const { title, labels } = figure[axis];
  const label = labels[at] ?? String(at);
  return title && /^\d/.test(label) ? `${look.text(title)} ${label}` : label;
}

function planOf(figure: PlayMatrix, look: Look): Plan {
  const [rows, columns] = [figure.values.length, Math.max(1, figure.values[0]?.length ?? 0)];
  const room = Math.min(120, look.width * 0.3);
  const longest = Math.max(0, ...figure.rows.labels.map((label) => textWidth(label, SIZE + 5))); // none is cut
  const left = Math.ceil(Math.min(room, longest) + 8);
  const wide = Math.min(LARGEST, (look.width - left - 1) / columns);
  const square = rows === columns || (rows <= 12 && columns <= 24);
  const tall = square
    ? Math.min(wide, Math.max(24, 440 / rows), 44)
    : Math.max(3, Math.min(24, wide * 2, 380 / rows));
  const names = figure.columns.labels;
  const numeric = names.every((label) => /^-?\d+$/.test(label));
  const widest = Math.max(1, ...names.map((label) => textWidth(label, SIZE)));
  const every = Math.max(1, Math.ceil((numeric ? widest + 6 : LINE) / wide));
  const head = Math.max(LINE, ...names.map((label) => labelHeight(label, every * wide - 2)));
  const top = (figure.columns.title || figure.rows.title ? 18 : 0) + head + 6;
  return { left, top, wide, tall: Math.max(tall, 3), every };
}

function labels(figure: PlayMatrix, plan: Plan, look: Look): SVGTextElement[] {
  const { left, top, wide, tall, every } = plan;
  const fill = look.inks.soft;
  const titles = [[figure.rows.title, "↓"] as const, [figure.columns.title, "→"] as const].flatMap(
    ([title, arrow]) => (title ? `${look.text(title)} ${arrow}` : []),
  );
  const found = [drawText(titles.join("  "), 0, 12, look.inks.faint)];
  const everyRow = Math.max(1, Math.ceil(14 / tall));
  figure.rows.labels.forEach((label, row) => {
    if (row % everyRow !== 0) return;
    const y = top + (row + 0.5) * tall + 4;
    found.push(drawText(shorten(label, left - 8, SIZE), left - 6, y, fill, "end"));
  });
  figure.columns.labels.forEach((label, column) => {
    if (column % every !== 0) return;
    const x = left + (column + 0.5) * wide;
    const how = labelDirection(label, every * wide - 2);
    if (how === "rotated") {
      const turned = { transform: `rotate(-90 ${x + 4} ${top - 6})` };
      found.push(drawText(shorten(label, LONGEST, SIZE), x + 4, top - 6, fill, "start", turned));
      return;
    }
    const lines = how === "horizontal" ? [label] : [...shorten(label, LONGEST - LINE, SIZE)];
    lines.forEach((line, at) => {
      const y = top - 6 - (lines.length - 1 - at) * LINE;
      found.push(drawText(line, x, y, fill, "middle"));
    });
  });
  return found;
}

/** A stroke through every cell that has no number. */
function crossOut(figure: PlayMatrix, { wide, tall }: Plan, look: Look): SVGPathElement {
  const strokes: string[] = [];
  figure.values.forEach((row, at) => {
    row.forEach((value, column) => {
      if (value === null) strokes.push(`M${column * wide} ${(at + 1) * tall}l${wide} ${-tall}`);
    });
  });
  return draw("path", { d: strokes.join(""), stroke: look.inks.line, fill: "none", class: "nothing" });
}

function writeNumbers(figure: PlayMatrix, { wide, tall }: Plan, scale: ColourScale): SVGTextElement[] {
  const flags = figure.scale === "flags";
  if (tall < 17 || wide < (flags ? 14 : 30)) return [];
  const written: SVGTextElement[] = [];
  figure.values.forEach((row, at) => {
    row.forEach((value, column) => {
      if (value === null) return;
      const text = flags ? (value > 0 ? "✓" : "") : brief(value, wide);
      const [x, y] = [(column + 0.5) * wide, (at + 0.5) * tall + 4];
      written.push(drawText(text, x, y, scale.ink(value)!, "middle", { "font-size": wide < 36 ? 10 : SIZE }));
    });
  });
  return written;
}

/** As many digits as fit. 0.00 is something small, 0 is nothing. */
export function brief(value: number, wide: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e4) return digits(value);
  if (Math.abs(value) >= 9.95) return digits(Math.round(value));
  return fixed(value, wide < 40 ? 1 : 2);
}
