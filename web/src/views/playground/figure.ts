/**
 * One figure on the page: heading, drawing, and a line with the cell under the pointer or chosen by arrow keys.
 *
 * In:   a figure of a result.
 * Out:  an element that keeps its cell when the numbers change; the same drawing for saved pictures; table rows.
 */

import type { PlayFigure } from "../../api/types";
import type { Message } from "../../core/messages";
import type { Stage } from "../../core/view";
import { ARROWS, consume } from "../../marks/keys";
import { draw, make, relabel, write } from "../../marks/make";
import { type Inks, SCREEN } from "../../marks/paper";
import { drawBars } from "./bars";
import type { Drawn, Look } from "./drawing";
import { drawLines } from "./lines";
import { drawNumbers, drawTable, formatEntry, makeNumbers, makeTable } from "./listing";
import { drawMatrix } from "./matrix";
import { drawPoints } from "./points";
import { words } from "./words";

type Place = readonly [row: number, column: number];

export function lookOf(stage: Pick<Stage, "language" | "theme" | "text">, inks: Inks, width: number): Look {
  const text = (said: Message) => stage.text(said);
  return { width, inks, theme: stage.theme, none: words(stage.language).none, text };
}

/** The SVG of a figure that has one; null for tables and numbers. */
function drawFigure(figure: PlayFigure, look: Look): Drawn | null {
  switch (figure.kind) {
    case "matrix":
      return drawMatrix(figure, look);
    case "bars":
      return drawBars(figure, look);
    case "lines":
      return drawLines(figure, look);
    case "points":
      return drawPoints(figure, look);
    default:
      return null;
  }
}

/** A figure for a saved picture, with its height. */
export function drawForSaving(figure: PlayFigure, look: Look): { element: SVGGElement; height: number } {
  if (figure.kind === "table") return drawTable(figure, look);
  if (figure.kind === "numbers") return drawNumbers(figure, look);
  return drawFigure(figure, look)!;
}

/** The largest number of figures that can stand side by side. */
export function mostSideBySide(figures: readonly PlayFigure[]): number {
  let [most, run] = [0, 0];
  for (const figure of figures) {
    run = isWide(figure) ? 0 : run + 1;
    most = Math.max(most, run);
  }
  return most === 4 ? 2 : most; // two and two
}

/** Which figures take a whole row: wide ones, and lines and bars that would be alone in it. */
export function takesWholeRow(figures: readonly PlayFigure[], columns: number): readonly boolean[] {
  const wide = figures.map(isWide);
  let start = 0;
  for (let at = 0; at <= figures.length; at++) {
    if (at < figures.length && !wide[at]) continue;
    const last = figures[at - 1];
    if (last && (at - start) % columns === 1 && (last.kind === "lines" || last.kind === "bars"))
      wide[at - 1] = true;
    start = at + 1;
  }
  return wide;
}

function isWide(figure: PlayFigure): boolean {
  if (figure.kind === "numbers") return true;
  if (figure.kind === "table") return figure.columns.length > 3;
  return figure.kind === "matrix" && (figure.values[0]?.length ?? 0) > 24 && figure.values.length < 24;
}

export class FigureElement {
  readonly element: HTMLElement;
  private readonly body = make("div", { class: "play-body" });
  private readonly note: HTMLElement;
  private readonly readout = make("p", { class: "play-readout", "aria-live": "polite" });
  private readonly ring = draw("rect", {
    class: "play-ring",
    rx: 2,
    fill: "none",
    stroke: "var(--accent)",
    "stroke-width": 2,
    visibility: "hidden",
  });
  private drawn: Drawn | null = null;
  private svg: SVGSVGElement | null = null;
  private place: Place | null = null;
  private width = 0;
  private shown = "";

  constructor(
    private figure: PlayFigure,
    private readonly stage: Pick<Stage, "language" | "theme" | "text">,
  ) {
    const note = () => (this.figure.note ? stage.text(this.figure.note) : "");
    this.note = make("p", { class: "play-note" }, note);
    this.element = make(
      "figure",
      { class: "play-figure", "data-figure": figure.id, "data-kind": figure.kind },
      make("h3", {}, () => stage.text(this.figure.title)),
      this.body,
      this.readout,
      this.note,
    );
  }

  /** Other numbers, or another width. */
  show(figure: PlayFigure, width: number, wide = false): void {
    this.element.toggleAttribute("data-wide", wide);
    const key = `${width} ${JSON.stringify(figure)}`;
    if (key === this.shown) return;
    this.shown = key;
    this.figure = figure;
    this.width = width;
    const text = (said: Message) => this.stage.text(said);
    this.note.hidden = figure.note === null;
    if (figure.kind === "table") this.body.replaceChildren(makeTable(figure, text));
    else if (figure.kind === "numbers") this.body.replaceChildren(makeNumbers(figure, text));
    this.restyle();
    this.readout.hidden = this.drawn === null;
  }

  /** The same numbers in another language or other colours. */
  restyle(): void {
    relabel(this.element);
    const look = lookOf(this.stage, SCREEN, this.width);
    const drawn = drawFigure(this.figure, look);
    this.drawn = drawn;
    if (drawn === null) return;
    const svg = this.svg ?? this.makeSvg();
    svg.setAttribute("width", String(look.width));
    svg.setAttribute("height", String(Math.ceil(drawn.height)));
    svg.setAttribute("viewBox", `0 0 ${look.width} ${Math.ceil(drawn.height)}`);
    svg.setAttribute("aria-label", `${look.text(this.figure.title)}. ${words(this.stage.language).keys}`);
    svg.replaceChildren(drawn.element, this.ring);
    this.point(this.place);
  }

  private makeSvg(): SVGSVGElement {
    const svg = draw("svg", {
      role: "application",
      tabindex: 0,
      "aria-roledescription": () => words(this.stage.language).figure,
      onpointermove: (event: PointerEvent) => {
        const box = svg.getBoundingClientRect();
        const scale = Number(svg.getAttribute("width")) / (box.width || 1);
        const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
        this.point(this.drawn?.at(x, y) ?? null);
      },
      onpointerleave: () => {
        if (svg.ownerDocument.activeElement !== svg) this.point(null);
      },
      onkeydown: (event: KeyboardEvent) => this.move(event),
      onblur: () => this.point(null),
    });
    this.svg = svg;
    this.body.replaceChildren(svg);
    return svg;
  }

  private move(event: KeyboardEvent): void {
    const step = ARROWS[event.key];
    if (!step || !this.drawn || event.ctrlKey || event.metaKey || event.altKey) return;
    consume(event);
    const { rows, columns } = this.drawn;
    if (rows * columns === 0) return;
    const from = this.place;
    const clamp = (value: number, count: number) => Math.max(0, Math.min(count - 1, value));
    this.point(from ? [clamp(from[0] + step[0], rows), clamp(from[1] + step[1], columns)] : [0, 0]);
  }

  private point(place: Place | null): void {
    const spot = place && this.drawn ? this.drawn.spot(place[0], place[1]) : null;
    this.place = spot ? place : null;
    this.ring.setAttribute("visibility", spot ? "visible" : "hidden");
    write(this.readout, spot?.text ?? "");
    if (!spot) return;
    for (const name of ["x", "y", "width", "height"] as const)
      this.ring.setAttribute(name, String(spot[name]));
  }
}

type Row = (string | number | null)[];

/** The numbers of a figure: its title, what they belong to, the number. */
export function figureRows(figure: PlayFigure, text: (said: Message) => string): Row[] {
  const title = text(figure.title);
  switch (figure.kind) {
    case "matrix":
      return figure.values.flatMap((row, at) =>
        row.map((value, place) => [
          title,
          figure.rows.labels[at] ?? String(at),
          figure.columns.labels[place] ?? String(place),
          value,
        ]),
      );
    case "bars":
      return figure.labels.flatMap((label, at) =>
        figure.series.map(({ name, values }): Row => [title, label, text(name), values[at] ?? null]),
      );
    case "lines":
      return figure.series.flatMap(({ name, values }) =>
        values.map((value, at): Row => [title, text(name), String(figure.x[at] ?? at), value]),
      );
    case "points":
      return figure.arrows.flatMap(({ label, x, y }): Row[] => [
        [title, label, "x", x],
        [title, label, "y", y],
      ]);
    case "table":
      return figure.rows.flatMap((row) =>
        row
          .slice(1)
          .map(
            (entry, place): Row => [
              title,
              formatEntry(row[0] ?? null, text),
              text(figure.columns[place + 1]!),
              typeof entry === "number" ? entry : formatEntry(entry, text),
            ],
          ),
      );
    case "numbers":
      return figure.items.map(({ name, unit, value }) => [title, text(name), unit ?? "", value]);
  }
}
