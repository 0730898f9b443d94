/**
 * The small pictures of heads on a canvas, and the card with a larger one.
 *
 * In:   a grid of boxes, thumbnails, what is chosen and pointed at.
 * Out:  pixels; only what is in view is drawn.
 */

import { digits } from "../../core/formats";
import { type Place, samePlace } from "../../core/place";
import { clearCanvas, pixelRatio, readInks } from "../../marks/canvas";
import { make, type Text, write } from "../../marks/make";
import type { Inks } from "../../marks/paper";
import { Tooltip } from "../../marks/tooltip";
import { BAR, type Box, type Grid, LABEL, labelOf } from "./grid";
import type { Thumbnails } from "./thumbnails";

export interface HeadPlace {
  readonly place: Place | null;
  readonly head: number;
}

export interface Gallery {
  readonly grid: Grid;
  readonly thumbnails: Thumbnails;
  readonly limits: readonly [number, number] | null; // of the numbers; null: there are none
  readonly chosen: HeadPlace | null;
  readonly focus: HeadPlace | null; // where the keyboard is; null while it is elsewhere
  readonly hover: Box | null;
}

export function isAt(box: Box, at: HeadPlace | null): boolean {
  return at !== null && samePlace(box.map.place, at.place) && box.head === at.head;
}

/** The share of the bar below a picture that is filled. */
export function shareOf(value: number, [least, most]: readonly [number, number]): number {
  return most > least ? (value - least) / (most - least) : 1;
}

/** Draw what a scrolled element shows, on a canvas that stays with it. */
export function drawGallery(canvas: HTMLCanvasElement, scroller: HTMLElement, gallery: Gallery): void {
  const ratio = pixelRatio(canvas);
  const [wide, high] = [scroller.clientWidth, scroller.clientHeight];
  const context = clearCanvas(canvas, wide, high, true);
  if (context === null) return;
  const { grid } = gallery;
  const [left, top] = [scroller.scrollLeft, scroller.scrollTop];
  context.translate(-left, -top);
  const style = getComputedStyle(scroller);
  const inks = { ...readInks(scroller), focus: style.getPropertyValue("--focus").trim() };
  context.font = `11px ${style.fontFamily}`;
  drawNames(context, grid, inks.faint);
  for (const box of grid.boxes) {
    const above = box.y + grid.step[1] < top || box.y > top + high;
    if (!above && box.x + grid.step[0] >= left && box.x <= left + wide)
      drawBox(context, gallery, box, ratio, inks);
  }
}

function drawNames(context: CanvasRenderingContext2D, grid: Grid, faint: string): void {
  context.fillStyle = faint;
  context.textAlign = "right";
  for (const { text, y } of grid.rows) context.fillText(text, 22, y + 4);
  context.textAlign = "center";
  for (const { text, x, y } of grid.columns) context.fillText(text, x, y);
}

function drawBox(
  context: CanvasRenderingContext2D,
  gallery: Gallery,
  box: Box,
  ratio: number,
  inks: Inks & { readonly focus: string },
): void {
  const { grid, limits, thumbnails } = gallery;
  const { map, head, x, y, value } = box;
  const { size } = grid;
  context.globalAlpha = box.kept ? 1 : 0.14;
  thumbnails.draw(context, map, head, x, y, size, ratio);
  context.strokeStyle = inks.line;
  context.lineWidth = 1;
  context.strokeRect(x - 0.5, y - 0.5, size + 1, size + 1);
  if (limits !== null) {
    context.fillStyle = inks.line;
    context.fillRect(x, y + size + 4, size, BAR);
    context.fillStyle = inks.accent;
    if (value !== null) context.fillRect(x, y + size + 4, Math.max(1, shareOf(value, limits) * size), BAR);
  }
  const chosen = isAt(box, gallery.chosen);
  if (grid.labelled) drawLabel(context, grid, box, chosen ? inks.accent : inks.faint, inks.soft);
  context.globalAlpha = 1;
  const focused = isAt(box, gallery.focus);
  if (chosen || focused || box === gallery.hover) {
    context.strokeStyle = focused ? inks.focus : chosen ? inks.accent : inks.ink;
    context.lineWidth = 2;
    context.strokeRect(x - 2, y - 2, size + 4, size + 4);
  }
}

function drawLabel(
  context: CanvasRenderingContext2D,
  { size }: Grid,
  box: Box,
  ink: string,
  soft: string,
): void {
  const { map, head, x, y, value } = box;
  const base = y + size + 4 + BAR + LABEL - 3;
  const name = labelOf(map, head);
  context.fillStyle = ink;
  context.textAlign = "left";
  context.fillText(name, x, base);
  const text = value === null ? "" : digits(value, 2);
  if (text !== "" && context.measureText(name).width + context.measureText(text).width + 2 <= size) {
    context.fillStyle = soft;
    context.textAlign = "right";
    context.fillText(text, x + size, base);
  }
}

const PREVIEW = 208; // CSS pixels of the larger picture

/** A larger picture of one head, with its name and number. */
export class Card {
  readonly element: HTMLElement;
  private readonly canvas = make("canvas", { class: "over-preview", "aria-hidden": "true" });
  private readonly name = make("div", { class: "over-name" });
  private readonly value = make("div", { class: "over-value" });

  constructor(hint: Text) {
    this.element = make(
      "div",
      { class: "over-card" },
      this.canvas,
      this.name,
      this.value,
      make("div", { class: "over-hint" }, hint),
    );
  }

  show(thumbnails: Thumbnails, { map, head }: Box, words: { name: string; value: string | null }): void {
    const context = clearCanvas(this.canvas, PREVIEW, PREVIEW);
    const ratio = pixelRatio(this.canvas);
    if (context !== null) thumbnails.draw(context, map, head, 0, 0, PREVIEW, ratio);
    write(this.name, words.name);
    write(this.value, words.value ?? "");
    this.value.hidden = words.value === null;
  }
}

/** The name and number of the head at the pointer. */
export class HeadTooltip {
  private readonly tooltip: Tooltip;
  private readonly text = make("span", { class: "over-flag" });

  constructor(host: HTMLElement) {
    this.tooltip = new Tooltip(host);
    this.tooltip.fill(this.text);
  }

  show(grid: Grid, box: Box, scroller: HTMLElement): void {
    write(
      this.text,
      [labelOf(box.map, box.head), box.value === null ? "" : digits(box.value, 4)].join("  ").trim(),
    );
    this.tooltip.show(
      box.x - scroller.scrollLeft + grid.size - 8,
      box.y - scroller.scrollTop + grid.size - 8,
    );
  }

  hide(): void {
    this.tooltip.hide();
  }
}
