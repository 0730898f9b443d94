/**
 * The saved picture of a heat map.
 *
 * In:   the scene as it is seen, its axes and legend.
 * Out:  a standalone SVG: rectangles for few cells, an embedded image for many.
 */

import type { Colour, Scene } from "../../core/heat";
import type { Theme } from "../../core/view";
import { css } from "../../marks/colours";
import { type PlotBox, type Tick, type Word, writeAxes } from "../../marks/heat_axes";
import { paint } from "../../marks/heat_canvas";
import { type LegendWords, writeLegend } from "../../marks/legend";
import { figure, inks, sheet } from "../../marks/paper";

const RECTANGLES = 4096; // cells up to which each is a rectangle of its own
const [BLACK, WHITE]: readonly [Colour, Colour] = [
  [0, 0, 0],
  [255, 255, 255],
];

export interface Print {
  readonly scene: Scene; // in CSS pixels: one device pixel each
  readonly box: PlotBox;
  readonly axes: { readonly words: readonly Word[]; readonly ticks: readonly Tick[] };
  readonly title: string;
  readonly caption: readonly string[];
  readonly legend: { readonly top: number; readonly percent: boolean; readonly words: LegendWords };
  readonly theme: Theme;
}

export function print({ scene, box, axes, title, caption, legend, theme }: Print): string {
  const ink = inks(theme);
  const { camera, extent } = scene;
  const width = Math.min(scene.width, Math.ceil((extent.keys - camera.key) * camera.wide));
  const height = Math.min(scene.height, Math.ceil((extent.queries - camera.query) * camera.high));
  const few = (width * height) / (camera.wide * camera.high) <= RECTANGLES;
  const cells = few ? rectangles(scene) : image(scene, width, height);
  const foot = box.top + height + 20;
  const body =
    writeAxes(axes, ink) +
    `<g transform="translate(${box.left} ${box.top})">${cells}` +
    `<rect x="-0.5" y="-0.5" width="${figure(width + 1)}" height="${figure(height + 1)}" fill="none" stroke="${ink.line}"/></g>` +
    `<g transform="translate(${box.left} ${figure(foot)})">` +
    writeLegend({ table: scene.table, ...legend, width: Math.min(240, Math.max(width, 120)) }, ink) +
    "</g>";
  return sheet({ width: box.left + Math.max(width, 240), height: foot + 28, body, title, caption, theme });
}

/** One rectangle for each run of equal colour in a row of cells; hatched ones carry a line. */
function rectangles(scene: Scene): string {
  const { camera, width, height } = scene;
  const flat: Scene = {
    ...scene,
    width: Math.ceil(width / camera.wide) + 1,
    height: Math.ceil(height / camera.high) + 1,
    camera: { key: Math.floor(camera.key), query: Math.floor(camera.query), wide: 1, high: 1 },
  };
  const pixels = paint({ ...flat, hatch: [BLACK, BLACK] });
  const other = paint({ ...flat, hatch: [WHITE, WHITE] }); // hatched cells are those that differ
  const parts: string[] = [];
  for (let y = 0; y < flat.height; y++) {
    for (let x = 0; x < flat.width; x++) {
      const at = 4 * (y * flat.width + x);
      if (pixels[at + 3] === 0) continue;
      const hatched = pixels[at] !== other[at];
      const [left, top] = [
        (x + flat.camera.key - camera.key) * camera.wide,
        (y + flat.camera.query - camera.query) * camera.high,
      ];
      const [from, down] = [Math.max(0, left), Math.max(0, top)];
      const [wide, high] = [
        Math.min(width, left + camera.wide) - from,
        Math.min(height, top + camera.high) - down,
      ];
      if (wide <= 0 || high <= 0) continue;
      const colour = hatched ? css(...scene.hatch[0]) : css(pixels[at]!, pixels[at + 1]!, pixels[at + 2]!);
      const gap = Math.min(camera.wide, camera.high) >= 14 ? 0.5 : 0;
      parts.push(
        `<rect x="${figure(from)}" y="${figure(down)}" width="${figure(wide - gap)}" height="${figure(high - gap)}" fill="${colour}"/>`,
      );
      if (hatched) {
        parts.push(
          `<path d="M${figure(from)} ${figure(down + high)}L${figure(from + wide)} ${figure(down)}" stroke="${css(...scene.hatch[1])}"/>`,
        );
      }
    }
  }
  return parts.join("");
}

/** The cells as an embedded PNG, two image pixels to a unit so that it stays sharp in print. */
function image(scene: Scene, width: number, height: number): string {
  const fine = 2;
  const canvas = document.createElement("canvas");
  canvas.width = width * fine;
  canvas.height = height * fine;
  const large: Scene = {
    ...scene,
    width: canvas.width,
    height: canvas.height,
    camera: { ...scene.camera, wide: scene.camera.wide * fine, high: scene.camera.high * fine },
  };
  canvas.getContext("2d")?.putImageData(new ImageData(paint(large), canvas.width, canvas.height), 0, 0);
  return `<image x="0" y="0" width="${width}" height="${height}" href="${canvas.toDataURL("image/png")}" image-rendering="pixelated"/>`;
}
