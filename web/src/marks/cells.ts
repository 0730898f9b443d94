/**
 * Numbers as coloured cells: a colour scale, its legend, and cells as vector paths for pictures.
 *
 * In:   values, a theme.
 * Out:  colours; SVG.
 */

import { digits, round, significant } from "../core/formats";
import type { Theme } from "../core/view";
import { diverging, inkOn, pick, sequential } from "./colours";
import { draw, drawText } from "./make";
import { figure, type Inks, SCREEN } from "./paper";

export interface ColourScale {
  readonly domain: readonly [number, number];
  readonly log: boolean;
  readonly table: Uint8Array;
  /** Place in the table, 0 to 255; null where there is no number. */
  place(value: number | null | undefined): number | null;
  css(value: number | null | undefined): string | null;
  /** Ink that can be read on the colour of a value. */
  ink(value: number): string | undefined;
}

/** From the least to the largest; "diverging" is even on both sides of zero. */
export function colourScale(
  reach: readonly [number, number] | null,
  kind: "sequential" | "diverging",
  log: boolean,
  theme: Theme,
): ColourScale {
  let [low, high] = reach ?? [0, 1];
  if (kind === "diverging")
    [low, high] = [-Math.max(Math.abs(low), Math.abs(high)), Math.max(Math.abs(low), Math.abs(high))];
  if (high <= low) high = low + leastReach(low);
  const table = kind === "diverging" ? diverging(theme) : sequential(theme);
  const useLog = log && kind === "sequential" && high > 0;
  const floor = low > 0 ? low : high * 1e-4;
  const share = useLog
    ? (value: number) => Math.log(Math.max(value, floor) / floor) / Math.log(high / floor || Math.E)
    : (value: number) => (value - low) / (high - low);
  const place = (value: number | null | undefined) =>
    value === null || value === undefined || Number.isNaN(value)
      ? null
      : Math.round(255 * Math.max(0, Math.min(1, share(value))));
  return {
    domain: [useLog ? floor : low, high],
    log: useLog,
    table,
    place,
    css: (value) => {
      const at = place(value);
      return at === null ? null : pick(table, at);
    },
    ink: (value) => {
      const at = place(value);
      return at === null ? undefined : inkOn(table, at);
    },
  };
}

/** What is put between the ends where all values are one. */
function leastReach(low: number): number {
  return (Math.abs(low) || 1) * 1e-6;
}

/** The legend of a scale: a bar with its ends and middle named; where all values are one, with that. */
export function drawColourBar(scale: ColourScale, width: number, inks: Inks, title = ""): SVGGElement {
  const frame = draw("rect", { x: 0, y: 0, width, height: 10, fill: "none", stroke: inks.line });
  const group = draw("g", { class: "colour-bar" }, ...drawRamp(scale.table, width, 10), frame);
  const [low, high] = scale.domain;
  const middle = scale.log ? Math.sqrt(low * high) : (low + high) / 2;
  const places = [
    [0, low, "start"],
    [width / 2, middle, "middle"],
    [width, high, "end"],
  ] as const;
  const alone = high - low <= 1.01 * leastReach(low);
  for (const [x, value, anchor] of alone ? places.slice(0, 1) : places) {
    group.append(drawText(round(significant(value, 3)), x, 23, inks.soft, anchor));
  }
  if (title !== "") group.append(drawText(title, width + 10, 9, inks.soft));
  return group;
}

/** The legend on the page, with its name for screen readers. */
export function showColourBar(svg: SVGSVGElement, scale: ColourScale, name: string): void {
  const bar = drawColourBar(scale, 200, SCREEN);
  bar.setAttribute("transform", "translate(4 2)");
  svg.replaceChildren(bar);
  svg.setAttribute("aria-label", `${name}: ${scale.domain.map((end) => digits(end)).join(" – ")}`);
}

/** The colours of a table from left to right, from place `first` on. */
export function drawRamp(table: Uint8Array, width: number, height: number, first = 0): SVGRectElement[] {
  const steps = 64;
  return Array.from({ length: steps }, (_, step) => {
    const fill = pick(table, first + ((255 - first) * step) / (steps - 1));
    const crisp = { "shape-rendering": "crispEdges" }; // no seams between them
    return draw("rect", {
      x: (step * width) / steps,
      y: 0,
      width: width / steps + 0.6,
      height,
      fill,
      ...crisp,
    });
  });
}

export interface CellLook {
  readonly rows: number;
  readonly columns: number;
  readonly wide: number; // of a cell
  readonly tall: number;
  colour(row: number, column: number): string;
}

/** Cells as one path a colour; neighbours of one colour become one rectangle. */
export function drawCells({ rows, columns, wide, tall, colour: colourOf }: CellLook): SVGGElement {
  const paths = new Map<string, string[]>();
  const place = (value: number) => figure(value, 2);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; ) {
      const colour = colourOf(row, column);
      let end = column + 1;
      while (end < columns && colourOf(row, end) === colour) end++;
      const path = paths.get(colour) ?? [];
      path.push(
        `M${place(column * wide)} ${place(row * tall)}h${place((end - column) * wide)}v${place(tall)}h${place((column - end) * wide)}z`,
      );
      paths.set(colour, path);
      column = end;
    }
  }
  const group = draw("g", { "shape-rendering": "crispEdges" });
  for (const [fill, path] of paths) group.append(draw("path", { d: path.join(""), fill }));
  return group;
}

/** An SVG element as text, for pictures. */
export function spell(element: SVGElement): string {
  return new XMLSerializer().serializeToString(element).replaceAll(' xmlns="http://www.w3.org/2000/svg"', "");
}
