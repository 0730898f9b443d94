/**
 * What all figures of the playground share: texts, colours, a legend, and cells to point at.
 *
 * In:   a figure of a result, a width, colours.
 * Out:  an SVG group with its height, and a grid of cells with a text for each, for pointer and arrow keys.
 */

import { digits, fixed } from "../../core/formats";
import type { Message } from "../../core/messages";
import type { Theme } from "../../core/view";
import { headColour } from "../../marks/colours";
import { draw, drawText } from "../../marks/make";
import { type Inks, wrap } from "../../marks/paper";
import { textWidth } from "../../marks/text";

export interface Look {
  readonly width: number;
  readonly inks: Inks;
  readonly theme: Theme;
  readonly none: string; // the text of a cell without a number
  text(said: Message): string; // in the page's language
}

/** One cell of a figure: where it is, and its text. */
export interface Spot {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly text: string;
}

export interface Drawn {
  readonly element: SVGGElement;
  readonly height: number;
  readonly rows: number; // of cells
  readonly columns: number;
  spot(row: number, column: number): Spot | null;
  /** The cell under a point, or the nearest one. */
  at(x: number, y: number): readonly [row: number, column: number] | null;
}

export const LARGE = { "font-size": 12 }; // other letters have 11 pixels
const PLACES = 4; // after the point, at most

/** A format for a column of numbers: as many decimals as the smallest needs for two digits, at least one. */
export function sameDecimals(values: readonly (number | null)[]): (value: number | null) => string {
  const sizes = values.filter((value) => value !== null && value !== 0).map((value) => Math.abs(value!));
  const least = Math.min(...sizes);
  const whole = sizes.every(Number.isInteger);
  const places = whole ? 0 : Math.max(1, Math.min(PLACES, 1 - Math.floor(Math.log10(least))));
  return (value) => {
    if (value === null || value === 0) return value === null ? "–" : "0";
    const size = Math.abs(value);
    if (whole || size >= 1e5 || size < 0.5 * 10 ** -places) return digits(value, 2);
    return fixed(value, places);
  };
}

/** As much of a text as fits. */
export function shorten(text: string, room: number, size = 12): string {
  if (textWidth(text, size) <= room) return text;
  const letters = [...text];
  while (letters.length > 1 && textWidth(`${letters.join("")}…`, size) > room) letters.pop();
  return `${letters.join("")}…`;
}

/** The colour of one of several: the accent where there is only one. */
export function colourOf(index: number, count: number, look: Look): string {
  return count === 1 ? look.inks.accent : headColour(index, look.theme);
}

/** The group of a figure, with a legend where it has several series; `top` is where the rest begins. */
export function beginFigure(
  name: string,
  series: readonly { readonly name: Message; readonly dashed?: boolean }[],
  look: Look,
): { readonly element: SVGGElement; readonly top: number } {
  const element = draw("g", { class: name });
  if (series.length < 2) return { element, top: 0 };
  const legend = drawLegend(series, look);
  element.append(legend.element);
  return { element, top: legend.height };
}

/** Names with their colours, in as many lines as they need. */
export function drawLegend(
  series: readonly { readonly name: Message; readonly dashed?: boolean }[],
  look: Look,
): { readonly element: SVGGElement; readonly height: number } {
  const element = draw("g", { class: "legend" });
  let [x, y, bottom] = [0, 0, 0];
  series.forEach(({ name, dashed }, index) => {
    const text = look.text(name);
    const length = 30 + textWidth(text, 12) + 12;
    const lines = wrap(text, (11 / 12) * (look.width - 30)); // counted at 11 px, written at 12
    if (x > 0 && x + length > look.width) {
      [x, y] = [0, bottom + 20];
      bottom = y;
    }
    bottom = Math.max(bottom, y + 16 * (lines.length - 1));
    element.append(
      draw("line", {
        x1: x,
        x2: x + 22,
        y1: y + 8,
        y2: y + 8,
        stroke: colourOf(index, series.length, look),
        "stroke-width": 4,
        "stroke-dasharray": dashed ? "4 3" : null,
      }),
      ...lines.map((line, at) => drawText(line, x + 28, y + 12 + 16 * at, look.inks.soft, "start", LARGE)),
    );
    x += length;
  });
  return { element, height: bottom + 24 };
}
