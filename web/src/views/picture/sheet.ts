/**
 * The picture as a saved image: the patches coloured, a scale below.
 *
 * In:   the image, the numbers over it, words.
 * Out:  a standalone SVG.
 */

import type { PictureDescription } from "../../api/types";
import { digits } from "../../core/formats";
import type { Theme } from "../../core/view";
import { figure, inks, label, sheet } from "../../marks/paper";
import { paintPicture, type Veil, veilColour } from "../../marks/patches";

const SIDE = 448; // of the longer side
const STEPS = 32; // of the scale

export interface Sheet {
  readonly image: CanvasImageSource | null;
  readonly description: PictureDescription;
  readonly veil: Veil | null;
  readonly ring: number | null; // the patch whose numbers they are
  readonly theme: Theme;
  readonly title: string;
  readonly caption: readonly string[];
}

export function writeSheet({ image, description, veil, ring, theme, title, caption }: Sheet): string {
  const { width: across, height: down, rows, columns } = description;
  const scale = SIDE / Math.max(across, down);
  const [width, height] = [across * scale, down * scale];
  const [wide, high] = [width / columns, height / rows];
  const box = (cell: number) =>
    `x="${figure((cell % columns) * wide)}" y="${figure(Math.floor(cell / columns) * high)}"` +
    ` width="${figure(wide)}" height="${figure(high)}"`;
  const grey = veil !== null && (veil.paint === "colour" || veil.signed);
  const ink = inks(theme);
  let body = drawImage(image, across, down, width, height, grey);
  veil?.values.forEach((value, cell) => {
    if (!Number.isNaN(value))
      body += `<rect ${box(cell)} ${fill(value, veil)} data-cell="${cell}" data-value="${value}"/>`;
  });
  if (ring !== null)
    body += `<rect ${box(ring)} fill="none" stroke="#000000" stroke-width="4"/><rect ${box(ring)} fill="none" stroke="#ffffff" stroke-width="2"/>`;
  if (veil !== null) body += writeScale(veil, width, height + 16, ink.soft);
  return sheet({ width, height: height + (veil === null ? 0 : 44), body, title, caption, theme });
}

function fill(value: number, veil: Veil): string {
  const [red, green, blue, cover] = veilColour(value, veil);
  return `fill="rgb(${red},${green},${blue})" fill-opacity="${figure(cover / 255)}"`;
}

function drawImage(
  image: CanvasImageSource | null,
  across: number,
  down: number,
  width: number,
  height: number,
  grey: boolean,
): string {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [across, down];
  const context = canvas.getContext("2d");
  if (image === null || !context) return "";
  paintPicture(context, image, across, down, grey);
  const size = `width="${figure(width)}" height="${figure(height)}"`;
  return `<image x="0" y="0" ${size} href="${canvas.toDataURL("image/png")}" image-rendering="pixelated"/>`;
}

/** The colours as they lie over a grey of middle strength. */
function writeScale(veil: Veil, width: number, top: number, ink: string): string {
  const [from, to] = [veil.signed ? -veil.maximum : 0, veil.maximum];
  const long = Math.min(240, width);
  let body = `<rect x="0" y="${figure(top)}" width="${figure(long)}" height="10" fill="#808080"/>`;
  for (let step = 0; step < STEPS; step++) {
    const value = from + ((to - from) * step) / (STEPS - 1);
    body += `<rect x="${figure((step * long) / STEPS)}" y="${figure(top)}" width="${figure(long / STEPS)}" height="10" ${fill(value, veil)}/>`;
  }
  body += label(digits(from), 0, top + 24, { fill: ink, size: 11 });
  return body + label(digits(to), long, top + 24, { fill: ink, size: 11, anchor: "end" });
}
