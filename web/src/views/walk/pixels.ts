/**
 * A matrix as pixels: one to a cell, or several cells averaged where there are too many.
 *
 * In:   a Grid.
 * Out:  canvases that are never on the page.
 */

import type { Theme } from "../../core/view";
import { type Grid, paint } from "./values";

/** One pixel a cell. */
export function pixelsOf(grid: Grid, theme: Theme): HTMLCanvasElement | null {
  const canvas = document.createElement("canvas");
  canvas.width = grid.columns;
  canvas.height = grid.rows;
  const context = canvas.getContext?.("2d");
  if (!context) return null;
  context.putImageData(new ImageData(paint(grid, theme), grid.columns, grid.rows), 0, 0);
  return canvas;
}

/** The same in fewer pixels, averaged. */
export function shrink(from: HTMLCanvasElement, width: number, height: number): HTMLCanvasElement {
  if (width === from.width && height === from.height) return from;
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  if (!context) return from;
  context.imageSmoothingQuality = "high";
  context.drawImage(from, 0, 0, width, height);
  return canvas;
}
