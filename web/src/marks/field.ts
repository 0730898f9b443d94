/**
 * The field of cells: tokens down, layers across, as much of it as is in sight, and a strip of the whole text beside it.
 *
 * In:   what is in a cell, by layer and token.
 * Out:  elements that scroll through any number of tokens; which cell is pointed at, chosen or walked to.
 */

import { figure as decimal } from "../core/formats";
import type { Theme } from "../core/view";
import { clearCanvas } from "./canvas";
import { type ColourScale, colourScale, drawCells, spell } from "./cells";
import { pointIn } from "./gestures";
import { consume, moveInList } from "./keys";
import { make } from "./make";
import { figure, type Inks, label } from "./paper";
import { reach } from "./sparkline";
import { clip, textWidth } from "./text";

const ROW = 22; // pixels of a token, not zoomed
const WORD = 12; // pixels that a label needs
const SMALL = 16; // pixels of a row below which labels are small
export const LABELS = 150; // their width in a saved picture
const STRIP = 18; // width of the whole-text strip
const STRIP_GAP = 6;
const WIDEST = 120; // pixels of a cell where there is more than room
const STEP = 1.5; // a press of + or −
const FITTED = [10, 64] as const; // pixels of a row, at least and at most, that is made to fit
const GAP = 12; // right of the cells, for a bar to scroll with
const MEASURED = 400; // labels whose width is looked at

export interface Cell {
  readonly token: number;
  readonly layer: number; // below 0: the token's label
}

/** What the field shows now. */
export interface Shown {
  readonly tokens: number;
  readonly layers: number;
  readonly focus: number | null; // token
  readonly layer: number; // in focus; below 0: none
  colour(layer: number, token: number): string | null; // null: no value
  mean(layer: number, from: number, to: number): string | null; // colour of several tokens' mean
  label(token: number): string;
  special(token: number): boolean;
  weight?(token: number): number | null; // attention that it receives, 0 to 1: a bar behind its label
  marked?: number | null; // a token that is pointed at elsewhere
}

export interface FieldHandlers {
  shown(): Shown;
  hover(cell: Cell | null): void;
  choose(cell: Cell): void;
  walk(cell: Cell): void; // by keyboard
  zoomed(): void; // rows are taller or lower
}

export interface ScaleLook {
  readonly each: boolean; // each layer from its own least to its own most; otherwise one scale for all
  readonly from: number; // the first layer that has values
  readonly kind: "sequential" | "diverging";
  readonly log: boolean;
  readonly theme: Theme;
}

/** The colours of each layer's values (layer, token). */
export function layerScales(values: Float32Array | null, layers: number, look: ScaleLook): ColourScale[] {
  const tokens = (values?.length ?? 0) / layers;
  const over = (from: number, to: number): ColourScale => {
    const span = values === null ? null : reach(values.subarray(from * tokens, to * tokens));
    return colourScale(span, look.kind, look.log, look.theme);
  };
  const all = look.each ? null : over(look.from, layers);
  return Array.from({ length: layers }, (_, layer) => all ?? over(layer, layer + 1));
}

/** What fits: the width of labels, which is no more than they need, and of a cell. */
export function measureField(
  width: number,
  layers: number,
  look: { readonly tokens: readonly string[]; readonly strip: boolean; readonly widest: number },
): { left: number; wide: number } {
  const room = width - GAP - (look.strip ? STRIP + STRIP_GAP : 0);
  const longest = Math.max(0, ...look.tokens.map((token) => textWidth(token, 14)));
  const left = Math.round(Math.min(LABELS, 0.32 * room, Math.max(40, longest + 16)));
  return { left, wide: Math.max(4, Math.min(look.widest, (room - left) / layers)) };
}

export class Field {
  readonly element: HTMLElement;
  readonly axis = make("div", { class: "field-axis", "aria-hidden": "true" });
  hovered: Cell | null = null;
  private readonly scroller: HTMLElement;
  private readonly spacer = make("div", { class: "spacer" });
  private readonly canvas = make("canvas", { "aria-hidden": "true" });
  private readonly labels = make("div", { class: "field-labels" });
  private readonly strip: HTMLCanvasElement;
  private readonly watcher: ResizeObserver;
  private frame = 0;
  private revealed: number | null = null; // the focus that was scrolled to
  private zoomed = 1;

  constructor(
    words: { readonly grid: string; readonly whole: string },
    private readonly handlers: FieldHandlers,
    private readonly fits = false, // rows as high as the room allows, so that all are in sight
  ) {
    this.scroller = make(
      "div",
      { class: "field-grid", tabindex: 0, role: "application", "aria-label": () => words.grid },
      this.spacer,
    );
    this.spacer.append(make("div", { class: "field-sheet" }, this.labels, this.canvas));
    this.strip = make("canvas", { class: "field-strip", title: () => words.whole });
    this.element = make("div", { class: "field" }, this.scroller, this.strip);
    this.scroller.addEventListener("scroll", () => this.redraw(), { passive: true });
    this.scroller.addEventListener("pointermove", (event) => this.hover(this.cellAt(event)));
    this.scroller.addEventListener("pointerleave", () => this.hover(null));
    this.scroller.addEventListener("click", (event) => {
      const cell = this.cellAt(event);
      if (cell !== null) handlers.choose(cell);
    });
    this.scroller.addEventListener("keydown", (event) => this.key(event));
    this.strip.addEventListener("pointerdown", (event) => this.jump(event));
    this.strip.addEventListener("pointermove", (event) => {
      if (event.buttons === 1) this.jump(event);
    });
    this.watcher = new ResizeObserver(() => this.redraw());
    this.watcher.observe(this.scroller);
  }

  /** Draw before the next frame. */
  redraw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  /** Bring the token in focus in sight, where it is another one than last time. */
  reveal(): void {
    const { focus, tokens } = this.handlers.shown();
    if (focus === null || focus === this.revealed) return;
    this.revealed = focus;
    this.spacer.style.setProperty("height", `${tokens * this.row}px`);
    const { scrollTop, clientHeight } = this.scroller;
    if (focus * this.row < scrollTop) this.scroller.scrollTop = focus * this.row;
    else if ((focus + 1) * this.row > scrollTop + clientHeight)
      this.scroller.scrollTop = (focus + 1) * this.row - clientHeight;
  }

  /** Pixels of a token. */
  private get row(): number {
    const { tokens } = this.handlers.shown();
    const room = (this.element.parentElement?.clientHeight ?? 0) - this.axis.clientHeight;
    const [least, most] = FITTED;
    const row = this.fits && room > 0 ? Math.max(least, Math.min(most, room / tokens)) : ROW;
    return Math.max(4, this.fits && this.zoomed === 1 ? row : Math.round(row * this.zoomed));
  }

  /** Rows taller (+1), lower (-1) or as they were (0); what is in the middle, or in focus, stays in sight. */
  zoom(direction: -1 | 0 | 1): void {
    this.enlarge(direction === 0 ? 1 : this.zoomed * STEP ** direction);
    this.handlers.zoomed();
  }

  private enlarge(wanted: number): void {
    const { scrollTop, clientHeight } = this.scroller;
    const { focus, tokens } = this.handlers.shown();
    const middle = (scrollTop + clientHeight / 2) / this.row;
    this.zoomed = Math.max(0.2, Math.min(4, wanted));
    this.spacer.style.setProperty("height", `${tokens * this.row}px`);
    this.limit(tokens);
    this.scroller.scrollTop = (focus === null ? middle : focus + 0.5) * this.row - clientHeight / 2;
    this.redraw();
  }

  /** How much taller rows are, for a link; null: as usual. */
  get at(): string | null {
    return this.zoomed === 1 ? null : decimal(this.zoomed);
  }

  set at(words: string | null) {
    this.enlarge(words === null ? 1 : Number(words));
  }

  /** The first token in sight. */
  first(): number {
    return Math.max(0, Math.floor(this.scroller.scrollTop / this.row));
  }

  /** Some rows as SVG, with names beside and numbers of layers below. */
  write(first: number, last: number, wide: number, inks: Inks) {
    const { layers, colour, label: name, weight } = this.handlers.shown();
    const tall = 18;
    const cells = drawCells({
      ...{ rows: last - first, columns: layers, wide, tall },
      colour: (row, layer) => colour(layer, first + row) ?? inks.line,
    });
    let body = `<g transform="translate(${LABELS} 0)">${spell(cells)}</g>`;
    for (let token = first; token < last; token++) {
      const y = (token - first) * tall;
      const bar = figure((LABELS - 8) * (weight?.(token) ?? 0));
      if (bar !== "0")
        body += `<rect x="${LABELS - 8}" y="${y}" width="${bar}" height="${tall}" fill="${inks.accent}" fill-opacity="0.26" transform="translate(-${bar} 0)"/>`;
      body += label(clip(name(token), 18), LABELS - 8, y + 13, { fill: inks.ink, anchor: "end", size: 12 });
    }
    const bottom = (last - first) * tall + 15;
    for (let layer = 0; layer < layers; layer++) {
      const x = LABELS + (layer + 0.5) * wide;
      body += label(String(layer), x, bottom, { fill: inks.soft, anchor: "middle", size: 11 });
    }
    return { body, width: LABELS + layers * wide, height: bottom + 3 };
  }

  unmount(): void {
    cancelAnimationFrame(this.frame);
    this.watcher.disconnect();
  }

  private key(event: KeyboardEvent): void {
    const { focus, layer, tokens, layers } = this.handlers.shown();
    const token = moveInList(event.key, focus ?? -1, tokens, "down", 20);
    const side = token === undefined ? moveInList(event.key, layer, layers, "across") : layer;
    if (side === undefined) return;
    consume(event);
    this.handlers.walk({ token: token ?? Math.max(0, focus ?? 0), layer: side });
  }

  private jump(event: PointerEvent): void {
    const box = this.strip.getBoundingClientRect();
    const share = (event.clientY - box.top) / Math.max(1, box.height);
    this.scroller.scrollTop =
      share * this.handlers.shown().tokens * this.row - this.scroller.clientHeight / 2;
  }

  private cellAt(event: MouseEvent): Cell | null {
    const { tokens, layers } = this.handlers.shown();
    const { x, y } = pointIn(this.scroller, event);
    const token = Math.floor((y + this.scroller.scrollTop) / this.row);
    const { left, wide } = this.measures(layers);
    const layer = Math.floor((x - left) / wide);
    return token < 0 || token >= tokens || layer >= layers ? null : { token, layer };
  }

  private hover(cell: Cell | null): void {
    if (cell?.token === this.hovered?.token && cell?.layer === this.hovered?.layer) return;
    this.hovered = cell;
    this.handlers.hover(cell);
    this.redraw();
  }

  private measures(layers: number): { left: number; wide: number } {
    const { tokens, label: name } = this.handlers.shown();
    const scrolls = tokens * this.row > (this.scroller.clientHeight || 400) + 1;
    return measureField(this.element.clientWidth || 600, layers, {
      tokens: Array.from({ length: Math.min(tokens, MEASURED) }, (_, token) => name(token)),
      strip: scrolls || !this.fits,
      widest: this.fits ? Infinity : WIDEST,
    });
  }

  private paint(): void {
    const shown = this.handlers.shown();
    const { tokens, layers } = shown;
    const { left, wide } = this.measures(layers);
    this.spacer.style.setProperty("height", `${tokens * this.row}px`);
    this.limit(tokens);
    this.scroller.style.setProperty("width", `${left + layers * wide + GAP}px`);
    const tall = Math.min(tokens * this.row, this.scroller.clientHeight || 400);
    const first = this.first();
    const last = Math.min(tokens, Math.ceil((this.scroller.scrollTop + tall) / this.row) + 1);
    this.paintAxis(shown, left, wide);
    this.paintLabels(shown, first, last, left);
    this.paintCells(shown, first, last, { left, wide, tall });
    this.paintStrip(shown, first, last);
  }

  /** In a host without a height of its own (a notebook) the window's must do. */
  private limit(tokens: number): void {
    const most = Math.min(tokens * this.row, Math.max(320, 0.8 * window.innerHeight));
    this.element.style.setProperty("max-height", `${most}px`);
  }

  private paintAxis({ layers, layer: chosen }: Shown, left: number, wide: number): void {
    const every = Math.max(1, Math.ceil(18 / wide));
    const marks = Array.from({ length: Math.ceil(layers / every) }, (_, at) => {
      const style = { left: `${left + (at * every + 0.5) * wide}px` };
      return make("span", { class: at * every === chosen ? "focus" : null, style }, at * every);
    });
    this.axis.replaceChildren(...marks);
  }

  private paintLabels(shown: Shown, first: number, last: number, left: number): void {
    const every = Math.ceil(WORD / this.row);
    const rows: HTMLElement[] = [];
    for (let token = Math.ceil(first / every) * every; token < last; token += every) {
      const name = token === shown.focus ? "focus" : shown.special(token) ? "special" : null;
      const weight = shown.weight?.(token) ?? 0;
      const style = {
        top: `${token * this.row - this.scroller.scrollTop}px`,
        width: `${left - 10}px`,
        height: `${every * this.row}px`,
        "line-height": `${every * this.row}px`,
        ...(this.row < SMALL ? { "font-size": "var(--text-xs)" } : {}),
        ...(weight > 0 ? { "--weight": `${100 * Math.min(1, weight)}%` } : {}),
      };
      rows.push(make("span", { dir: "auto", class: name, title: token, style }, shown.label(token)));
    }
    this.labels.replaceChildren(...rows);
  }

  private paintCells(
    shown: Shown,
    first: number,
    last: number,
    at: { left: number; wide: number; tall: number },
  ): void {
    const { layers, focus } = shown;
    const width = Math.ceil(layers * at.wide);
    const context = clearCanvas(this.canvas, width, at.tall, true);
    this.canvas.style.setProperty("left", `${at.left}px`);
    if (context === null) return;
    const style = getComputedStyle(this.element);
    const gap = at.wide >= 16 && this.row >= 10 ? 1 : 0;
    const top = this.scroller.scrollTop;
    const line = style.getPropertyValue("--line");
    const edge = (token: number) => Math.round(token * this.row - top); // whole pixels: no seams
    for (let token = first; token < last; token++) {
      for (let layer = 0; layer < layers; layer++) {
        context.fillStyle = shown.colour(layer, token) ?? line;
        const high = edge(token + 1) - edge(token) - gap;
        context.fillRect(layer * at.wide, edge(token), at.wide - gap, high);
      }
    }
    context.strokeStyle = style.getPropertyValue("--accent");
    context.lineWidth = 2;
    if (focus !== null) context.strokeRect(1, focus * this.row - top, width - 2, this.row - gap);
    const { marked } = shown;
    if (marked != null && marked !== this.hovered?.token) {
      context.strokeStyle = style.getPropertyValue("--ink");
      context.lineWidth = 1;
      context.strokeRect(0.5, marked * this.row - top + 0.5, width - 2, this.row - gap - 1);
    }
    const cell = this.hovered ?? (focus === null ? null : { token: focus, layer: shown.layer });
    if (cell === null || cell.layer < 0) return;
    context.strokeStyle = style.getPropertyValue("--ink");
    context.lineWidth = 1.5;
    const [x, y] = [cell.layer * at.wide + 0.75, cell.token * this.row - top + 0.75];
    context.strokeRect(x, y, at.wide - gap - 1.5, this.row - gap - 1.5);
  }

  /** The whole text on one strip, a mean for each pixel; only where not all rows fit. */
  private paintStrip({ tokens, layer, mean }: Shown, first: number, last: number): void {
    const tall = this.scroller.clientHeight;
    this.strip.hidden = tokens * this.row <= tall + 1;
    const context = this.strip.hidden ? null : clearCanvas(this.strip, STRIP, tall, true);
    if (context === null) return;
    for (let pixel = 0; pixel < tall; pixel++) {
      const from = Math.floor((pixel * tokens) / tall);
      const to = Math.max(from + 1, Math.floor(((pixel + 1) * tokens) / tall));
      context.fillStyle = mean(layer, from, to) ?? "transparent";
      context.fillRect(0, pixel, STRIP - 4, 1);
    }
    context.strokeStyle = getComputedStyle(this.element).getPropertyValue("--ink");
    const deep = Math.max(3, ((last - first) / tokens) * tall - 1);
    context.strokeRect(0.5, (first / tokens) * tall + 0.5, STRIP - 1, deep);
  }
}
