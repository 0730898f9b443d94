/**
 * The field of cells: tokens down, layers across, as much of it as is in sight, and a strip of the whole text beside it.
 *
 * In:   what is in a cell, by layer and token.
 * Out:  elements that scroll through any number of tokens; which cell is pointed at, chosen or walked to.
 */

import { clearCanvas } from "../../marks/canvas";
import { consume, moveInList } from "../../marks/keys";
import { make } from "../../marks/make";

export const ROW = 22; // pixels of a token
const STRIP = 18; // width of the whole-text strip

export interface Cell {
  readonly token: number;
  readonly layer: number; // below 0: the token's label
}

/** What the field shows now. */
export interface Shown {
  readonly tokens: number;
  readonly layers: number;
  readonly focus: number | null; // token
  readonly layer: number;
  colour(layer: number, token: number): string | null; // null: no value
  mean(layer: number, from: number, to: number): string | null; // colour of several tokens' mean
  label(token: number): string;
  special(token: number): boolean;
}

export interface FieldHandlers {
  shown(): Shown;
  hover(cell: Cell | null): void;
  choose(cell: Cell): void;
  walk(cell: Cell): void; // by keyboard
}

export class Field {
  readonly element: HTMLElement;
  readonly axis = make("div", { class: "axis", "aria-hidden": "true" });
  hovered: Cell | null = null;
  private readonly scroller: HTMLElement;
  private readonly spacer = make("div", { class: "spacer" });
  private readonly canvas = make("canvas", { "aria-hidden": "true" });
  private readonly labels = make("div", { class: "labels" });
  private readonly strip: HTMLCanvasElement;
  private readonly watcher: ResizeObserver;
  private frame = 0;
  private revealed: number | null = null; // the focus that was scrolled to

  constructor(
    words: { readonly grid: string; readonly whole: string },
    private readonly handlers: FieldHandlers,
  ) {
    this.scroller = make(
      "div",
      { class: "grid", tabindex: 0, role: "application", "aria-label": () => words.grid },
      this.spacer,
    );
    this.spacer.append(make("div", { class: "sheet" }, this.labels, this.canvas));
    this.strip = make("canvas", { class: "strip", title: () => words.whole });
    this.element = make("div", { class: "main" }, this.scroller, this.strip);
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
    this.spacer.style.setProperty("height", `${tokens * ROW}px`);
    const { scrollTop, clientHeight } = this.scroller;
    if (focus * ROW < scrollTop) this.scroller.scrollTop = focus * ROW;
    else if ((focus + 1) * ROW > scrollTop + clientHeight)
      this.scroller.scrollTop = (focus + 1) * ROW - clientHeight;
  }

  /** The first token in sight. */
  first(): number {
    return Math.max(0, Math.floor(this.scroller.scrollTop / ROW));
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
    this.scroller.scrollTop = share * this.handlers.shown().tokens * ROW - this.scroller.clientHeight / 2;
  }

  private cellAt(event: MouseEvent): Cell | null {
    const { tokens, layers } = this.handlers.shown();
    const box = this.scroller.getBoundingClientRect();
    const token = Math.floor((event.clientY - box.top + this.scroller.scrollTop) / ROW);
    const { left, wide } = this.measures(layers);
    const layer = Math.floor((event.clientX - box.left - left) / wide);
    return token < 0 || token >= tokens || layer >= layers ? null : { token, layer };
  }

  private hover(cell: Cell | null): void {
    if (cell?.token === this.hovered?.token && cell?.layer === this.hovered?.layer) return;
    this.hovered = cell;
    this.handlers.hover(cell);
    this.redraw();
  }

  /** What fits: the width of labels and of a cell. */
  private measures(layers: number): { left: number; wide: number } {
    const width = (this.element.clientWidth || 600) - STRIP - 20;
    const left = Math.round(Math.min(150, width * 0.32));
    return { left, wide: Math.max(4, Math.min(120, (width - left - 4) / layers)) };
  }

  private paint(): void {
    const shown = this.handlers.shown();
    const { tokens, layers } = shown;
    const { left, wide } = this.measures(layers);
    this.spacer.style.setProperty("height", `${tokens * ROW}px`);
    // In a host without a height of its own (a notebook) the window's must do.
    const most = Math.min(tokens * ROW, Math.max(320, 0.8 * window.innerHeight));
    this.element.style.setProperty("max-height", `${most}px`);
    this.scroller.style.setProperty("width", `${left + layers * wide + 12}px`);
    const tall = Math.min(tokens * ROW, this.scroller.clientHeight || 400);
    const first = this.first();
    const last = Math.min(tokens, Math.ceil((this.scroller.scrollTop + tall) / ROW) + 1);
    this.paintAxis(layers, left, wide);
    this.paintLabels(shown, first, last, left);
    this.paintCells(shown, first, last, { left, wide, tall });
    this.paintStrip(shown, first, last);
  }

  private paintAxis(layers: number, left: number, wide: number): void {
    const every = Math.max(1, Math.ceil(18 / wide));
    const marks = Array.from({ length: Math.ceil(layers / every) }, (_, at) => {
      const style = { left: `${left + (at * every + 0.5) * wide}px` };
      return make("span", { style }, at * every);
    });
    this.axis.replaceChildren(...marks);
  }

  private paintLabels(shown: Shown, first: number, last: number, left: number): void {
    const rows = Array.from({ length: last - first }, (_, at) => {
      const token = first + at;
      const name = token === shown.focus ? "focus" : shown.special(token) ? "special" : null;
      const style = { top: `${token * ROW - this.scroller.scrollTop}px`, width: `${left - 10}px` };
      return make("span", { dir: "auto", class: name, title: token, style }, shown.label(token));
    });
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
    const gap = at.wide >= 16 ? 1 : 0;
    const top = this.scroller.scrollTop;
    for (let token = first; token < last; token++) {
      for (let layer = 0; layer < layers; layer++) {
        context.fillStyle = shown.colour(layer, token) ?? style.getPropertyValue("--line");
        context.fillRect(layer * at.wide, token * ROW - top, at.wide - gap, ROW - gap);
      }
    }
    context.strokeStyle = style.getPropertyValue("--accent");
    context.lineWidth = 2;
    if (focus !== null) context.strokeRect(1, focus * ROW - top, width - 2, ROW - gap);
    const cell = this.hovered ?? (focus === null ? null : { token: focus, layer: shown.layer });
    if (cell === null || cell.layer < 0) return;
    context.strokeStyle = style.getPropertyValue("--ink");
    context.lineWidth = 1.5;
    const [x, y] = [cell.layer * at.wide + 0.75, cell.token * ROW - top + 0.75];
    context.strokeRect(x, y, at.wide - gap - 1.5, ROW - gap - 1.5);
  }

  /** The whole text on one strip, a mean for each pixel; only where not all rows fit. */
  private paintStrip({ tokens, layer, mean }: Shown, first: number, last: number): void {
    const tall = this.scroller.clientHeight;
    this.strip.hidden = tokens * ROW <= tall + 1;
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
