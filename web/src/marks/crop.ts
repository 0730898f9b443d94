/**
 * A small part of a picture beside, or in the place of, a name.
 *
 * In:   a Crop.
 * Out:  a canvas of so many CSS pixels; the same for SVG.
 */

import type { Crop } from "../core/heat";
import { make, setStyle } from "./make";
import { figure } from "./paper";
import "./crop.css";

const FINE = 4; // pixels of a canvas for each pixel of the picture, at most

/** A canvas with a part of a picture, whose name is elsewhere; `sized`: it is also made that large in the page. */
export function drawCrop({ image, box }: Crop, size: number, sized = true): HTMLCanvasElement {
  const canvas = make("canvas", { class: "crop", "aria-hidden": "true" });
  const side = Math.max(1, Math.round(Math.min(2 * size, FINE * Math.max(box[2], box[3]))));
  [canvas.width, canvas.height] = [side, side];
  if (sized) setStyle(canvas, { width: `${size}px`, height: `${size}px` });
  const context = canvas.getContext("2d");
  if (context !== null) {
    context.imageSmoothingEnabled = false;
    context.drawImage(image, ...box, 0, 0, side, side);
  }
  return canvas;
}

/** The same as an element of SVG. */
export function writeCrop(crop: Crop, x: number, y: number, size: number): string {
  const url = drawCrop(crop, size).toDataURL?.("image/png") ?? "";
  const at = `x="${figure(x)}" y="${figure(y)}" width="${figure(size)}" height="${figure(size)}"`;
  const frame = `<rect ${at} fill="none" stroke="#808080" stroke-opacity="0.4"/>`;
  return `<image ${at} href="${url}" image-rendering="pixelated"/>${frame}`;
}
