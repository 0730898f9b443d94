/**
 * Tables and single numbers: elements on the page, text in saved pictures.
 *
 * In:   PlayTable, PlayNumbers.
 * Out:  HTML, or an SVG group with its height.
 */

import type { PlayNumbers, PlayTable } from "../../api/types";
import { digits, exact } from "../../core/formats";
import type { Message } from "../../core/messages";
import { draw, drawText, make } from "../../marks/make";
import { textWidth } from "../../marks/text";
import { LARGE, type Look, sameDecimals, shorten } from "./drawing";

type Format = (said: Message) => string;
type Entry = PlayTable["rows"][number][number];

export function formatEntry(entry: Entry, text: Format): string {
  if (entry === null) return "–";
  if (typeof entry === "number") return digits(entry);
  return typeof entry === "string" ? entry : text(entry);
}

/** A format for each column: its numbers have the same decimals. */
function columnFormats(figure: PlayTable, text: Format): ((entry: Entry) => string)[] {
  return figure.columns.map((_, place) => {
    const entries = figure.rows.map((row) => row[place] ?? null);
    const spell = sameDecimals(entries.filter((entry) => typeof entry === "number"));
    return (entry) => (typeof entry === "number" ? spell(entry) : formatEntry(entry, text));
  });
}

/** A number with its unit; degrees belong to the number. */
function formatValue(value: number | null, unit: string | null): string {
  return unit === "°" ? `${digits(value)}°` : digits(value);
}

export function makeTable(figure: PlayTable, text: Format): HTMLElement {
  const numeric = (place: number) => figure.rows.some((row) => typeof row[place] === "number");
  const spell = columnFormats(figure, text);
  const rows = figure.rows.map((row, at) =>
    make(
      "tr",
      { "data-marked": figure.marked.includes(at) },
      ...row.map((entry, place) => {
        const number = typeof entry === "number";
        return make(
          place === 0 ? "th" : "td",
          {
            scope: place === 0 ? "row" : null,
            class: numeric(place) ? "number" : null,
            title: number ? exact(entry) : null,
            dir: number ? null : "auto",
          },
          () => spell[place]!(entry),
        );
      }),
    ),
  );
  return make(
    "div",
    { class: "play-table", tabindex: 0, role: "region", "aria-label": () => text(figure.title) },
    make(
      "table",
      {},
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          ...figure.columns.map((column, place) =>
            make("th", { scope: "col", class: numeric(place) ? "number" : null }, () => text(column)),
          ),
        ),
      ),
      make("tbody", {}, ...rows),
    ),
  );
}

export function makeNumbers(figure: PlayNumbers, text: Format): HTMLElement {
  return make(
    "dl",
    { class: "play-numbers" },
    ...figure.items.map(({ name, value, unit, good }) =>
      make(
        "div",
        { "data-good": good === null ? null : String(good) },
        make("dt", {}, () => text(name)),
        make(
          "dd",
          { title: exact(value) },
          formatValue(value, unit),
          unit && unit !== "°" ? make("span", {}, unit) : null,
        ),
      ),
    ),
  );
}

const ROW = 22;

/** A table in a saved picture. */
export function drawTable(figure: PlayTable, look: Look): { element: SVGGElement; height: number } {
  const spell = columnFormats(figure, look.text);
  const cells = [
    figure.columns.map(look.text),
    ...figure.rows.map((row) => row.map((entry, place) => spell[place]!(entry))),
  ];
  const lengths = figure.columns.map((_, place) =>
    Math.max(...cells.map((row) => textWidth(row[place] ?? "", 12) + 20)),
  );
  const whole = lengths.reduce((sum, length) => sum + length, 0);
  const share = Math.min(1, look.width / whole);
  const element = draw("g", { class: "table-figure" });
  cells.forEach((row, at) => {
    const y = at * ROW;
    let x = 0;
    if (figure.marked.includes(at - 1))
      element.append(
        draw("rect", {
          x: -4,
          y: y + 1,
          width: Math.min(whole, look.width) + 8,
          height: ROW - 2,
          fill: look.inks.accent,
          "fill-opacity": 0.12,
        }),
      );
    row.forEach((text, place) => {
      const room = (lengths[place] ?? 0) * share;
      const [fill, size] = at === 0 ? [look.inks.faint, {}] : [look.inks.ink, LARGE];
      element.append(drawText(shorten(text, room - 8), x, y + 15, fill, "start", size));
      x += room;
    });
  });
  return { element, height: cells.length * ROW };
}

/** Single numbers in a saved picture. */
export function drawNumbers(figure: PlayNumbers, look: Look): { element: SVGGElement; height: number } {
  const element = draw("g", { class: "numbers-figure" });
  figure.items.forEach(({ name, value, unit }, at) => {
    const [y, bold] = [at * ROW + 15, { ...LARGE, "font-weight": 600 }];
    const text = `${formatValue(value, unit)}${unit && unit !== "°" ? ` ${unit}` : ""}`;
    element.append(
      drawText(look.text(name), 0, y, look.inks.soft, "start", LARGE),
      drawText(text, look.width, y, look.inks.ink, "end", bold),
    );
  });
  return { element, height: figure.items.length * ROW };
}
