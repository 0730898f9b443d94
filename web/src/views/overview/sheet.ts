/**
 * The overview on paper: all pictures in one image, names and bars as vectors.
 *
 * In:   a gallery laid out for the sheet, words.
 * Out:  a standalone SVG.
 */

import type { Theme } from "../../core/view";
import { make } from "../../marks/make";
import { figure, inks, label, sheet } from "../../marks/paper";
import { type Gallery, shareOf } from "./gallery";
import { BAR, LABEL, labelOf } from "./grid";

const FINE = 2; // image pixels to a unit

export function printGallery(
  gallery: Gallery,
  words: { title: string; caption: readonly string[] },
  theme: Theme,
): string {
  const { grid } = gallery;
  const ink = inks(theme);
  const parts: string[] = [image(gallery)];
  for (const { text, y } of grid.titles)
    parts.push(label(text, 0, y + 22, { size: 13, fill: ink.ink, weight: 600 }));
  for (const { text, y } of grid.rows)
    parts.push(label(text, 22, y + 4, { size: 11, fill: ink.faint, anchor: "end" }));
  for (const { text, x, y } of grid.columns)
    parts.push(label(text, x, y, { size: 11, fill: ink.faint, anchor: "middle" }));
  for (const { map, head, x, y, value } of grid.boxes) {
    const bar = (width: number, fill: string): string =>
      `<rect x="${figure(x)}" y="${figure(y + grid.size + 4)}" width="${figure(width)}" height="${BAR}" fill="${fill}"/>`;
    if (value !== null && gallery.limits !== null) {
      parts.push(
        bar(grid.size, ink.line),
        bar(Math.max(1, shareOf(value, gallery.limits) * grid.size), ink.accent),
      );
    }
    if (grid.labelled)
      parts.push(
        label(labelOf(map, head), x, y + grid.size + 4 + BAR + LABEL - 3, { size: 10, fill: ink.faint }),
      );
  }
  return sheet({ width: grid.width, height: grid.height, body: parts.join(""), ...words, theme });
}

function image({ grid, thumbnails }: Gallery): string {
  const canvas = make("canvas", {
    width: Math.ceil(grid.width * FINE),
    height: Math.ceil(grid.height * FINE),
  });
  const context = canvas.getContext("2d");
  if (context === null) return "";
  for (const { map, head, x, y, kept } of grid.boxes) {
    context.globalAlpha = kept ? 1 : 0.14;
    thumbnails.draw(context, map, head, x * FINE, y * FINE, grid.size * FINE, 1);
  }
  const size = `width="${canvas.width / FINE}" height="${canvas.height / FINE}"`;
  return `<image x="0" y="0" ${size} href="${canvas.toDataURL("image/png")}" image-rendering="pixelated"/>`;
}
