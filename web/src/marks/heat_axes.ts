/**
 * The axes of a heat map: token names beside rows and above columns, on a canvas or in a saved picture.
 *
 * In:   a camera in CSS pixels, margins, the tokens of both sides.
 * Out:  words with places; they never overlap, and are cut where there is no room.
 */

import { count as grouped } from "../core/formats";
import type { Camera, Crop, Extent } from "../core/heat";
import type { Size } from "../core/heat_camera";
import { elide, FEW, type Label, layLabels, type TokenNames } from "./axis";
import { writeCrop } from "./crop";
import { figure, type Inks, label } from "./paper";

/** The cells' part of the plot, CSS pixels. */
export interface PlotBox extends Size {
  readonly left: number; // margins
  readonly top: number;
}

export interface Axis {
  readonly tokens: TokenNames;
  readonly start: number; // the side's number of the first cell
  readonly count: number;
}

export interface Word {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly turned: boolean; // reads from bottom to top
  readonly anchor: "start" | "middle" | "end";
  readonly tone: "ink" | "soft" | "faint";
  readonly crop?: Crop | null; // a part of a picture, drawn in its place
  readonly size?: number; // pixels of it
}

/** Words that are not in the way of larger ones: the names of a row and of a column that are pointed at. */
export function wordsBeside(
  words: readonly Word[],
  names: readonly { readonly down: boolean; readonly at: number }[],
): readonly Word[] {
  const middle = ({ x, y, turned }: Word): number => (turned ? x : y) - FONT_SIZE * MIDDLE;
  return words.filter(
    (word) =>
      word.anchor === "middle" || // they lie flat, each above its own column
      !names.some(({ down, at }) => down === word.turned && Math.abs(middle(word) - at) < ROOM),
  );
}

export interface Tick {
  readonly x: number;
  readonly y: number;
  readonly down: boolean; // belongs to the upper axis
}

export const FONT_SIZE = 12;
const ROOM = 15; // pixels from one name to the next
const SPACE = 7; // between names and cells
const LARGEST = 28; // pixels of a part of a picture
const MIDDLE = 0.34; // of the font size, from the middle to the baseline

type Measure = (text: string) => number;

/** Everything written along both axes. */
export function layAxes(
  box: PlotBox,
  camera: Camera,
  extent: Extent,
  axes: { query: Axis; key: Axis },
  measure: Measure,
): { words: Word[]; ticks: Tick[]; flat: boolean } {
  const lay = (first: number, scale: number, length: number, count: number) =>
    layLabels({ first, scale, length, count, room: ROOM });
  const rows = lay(camera.query, camera.high, box.height, extent.queries);
  const columns = lay(camera.key, camera.wide, box.width, extent.keys);
  const words: Word[] = [];
  const ticks: Tick[] = [];
  for (const each of rows) {
    const y = box.top + each.at + FONT_SIZE * MIDDLE;
    const place = (left: number) =>
      ({ x: box.left - SPACE - left, y, turned: false, anchor: "end" }) as const;
    words.push(...write(each, axes.query, box.left - SPACE, place, measure, camera.high));
    if (each.numbered) ticks.push({ x: box.left, y: box.top + each.at, down: false });
  }
  const flat = liesFlat(columns, axes.key, camera.wide, measure);
  for (const each of columns) {
    const x = box.left + each.at;
    if (flat) {
      const text = axes.key.tokens.get(axes.key.start + each.index) ?? "";
      const place = { x, y: box.top - SPACE - 1, turned: false, anchor: "middle" } as const;
      words.push({ text, ...place, ...look(axes.key, each.index, camera.wide) });
    } else {
      const place = (up: number) =>
        ({ x: x + FONT_SIZE * MIDDLE, y: box.top - SPACE - up, turned: true, anchor: "start" }) as const;
      words.push(...write(each, axes.key, box.top - SPACE, place, measure, camera.wide));
    }
    if (each.numbered) ticks.push({ x, y: box.top, down: true });
  }
  return { words, ticks, flat };
}

/** One label: its number where the view is far away, then its token, in so much room. */
function write(
  { index, numbered }: Label,
  axis: Axis,
  room: number,
  place: (from: number) => Pick<Word, "x" | "y" | "turned" | "anchor">,
  measure: Measure,
  cell: number, // pixels
): Word[] {
  const words: Word[] = [];
  let used = 0;
  if (numbered) {
    const number = grouped(axis.start + index);
    words.push({ text: number, ...place(0), tone: "faint" });
    used = measure(number) + 6;
  }
  const token = axis.tokens.get(axis.start + index, numbered);
  if (token !== undefined && room - used > 14) {
    const text = elide(token, room - used - 2, measure);
    words.push({ text, ...place(used), ...look(axis, index, cell) });
  }
  return words;
}

/** How a token is written, or what is drawn instead: as large as its cell, within limits. */
function look(axis: Axis, index: number, cell: number): Pick<Word, "tone" | "crop" | "size"> {
  const token = axis.start + index;
  const tone = axis.tokens.isSpecial(token) ? "faint" : "soft";
  const crop = axis.tokens.crop?.(token) ?? null;
  return { tone, crop, size: Math.max(ROOM - 2, Math.min(LARGEST, cell - 2)) };
}

/** Names above columns lie flat when every one fits over its own column. */
function liesFlat(columns: readonly Label[], axis: Axis, scale: number, measure: Measure): boolean {
  if (scale < 18 || columns[0]?.numbered) return false;
  return columns.every(({ index }) => measure(axis.tokens.get(axis.start + index) ?? "") <= scale - 5);
}

/** The margin that names need, within limits: their widest, as far as they are known. */
export function marginFor(axis: Axis, least: number, most: number, measure: Measure): number {
  let widest = 0;
  for (let index = 0; index < Math.min(axis.count, 400); index++) {
    widest = Math.max(widest, measure(axis.tokens.get(axis.start + index) ?? ""));
  }
  const numbers = axis.count > FEW ? measure(grouped(axis.start + axis.count)) + 6 : 0;
  return Math.round(Math.max(least, Math.min(most, widest + numbers + SPACE + 8)));
}

export function drawAxes(
  context: CanvasRenderingContext2D,
  { words, ticks }: { words: readonly Word[]; ticks: readonly Tick[] },
  colours: Inks,
): void {
  context.strokeStyle = colours.faint;
  context.lineWidth = 1;
  context.beginPath();
  for (const { x, y, down } of ticks) {
    const [across, along] = [Math.round(x) + 0.5, Math.round(y) + 0.5];
    context.moveTo(down ? across : x - 4, down ? y - 4 : along);
    context.lineTo(down ? across : x - 1, down ? y - 1 : along);
  }
  context.stroke();
  for (const word of words) {
    const { text, x, y, turned, anchor, tone, crop } = word;
    if (crop) {
      const [left, top, size] = placeCrop(word);
      context.imageSmoothingEnabled = crop.box[2] > size; // few pixels stay squares
      context.drawImage(crop.image, ...crop.box, left, top, size, size);
      context.strokeStyle = colours.line; // one as light, or as dark, as the page is seen, too
      context.strokeRect(left + 0.5, top + 0.5, size - 1, size - 1);
      continue;
    }
    context.fillStyle = colours[tone];
    context.textAlign = anchor === "middle" ? "center" : anchor === "end" ? "right" : "left";
    if (!turned) context.fillText(text, x, y);
    else {
      context.save();
      context.translate(x, y);
      context.rotate(-Math.PI / 2);
      context.fillText(text, 0, 0);
      context.restore();
    }
  }
}

/** Where a part of a picture is drawn in the place of a word, and how large. */
function placeCrop({ x, y, turned, anchor, size = ROOM }: Word): readonly [number, number, number] {
  const middle = FONT_SIZE * MIDDLE;
  const left = turned ? x - middle - size / 2 : anchor === "middle" ? x - size / 2 : x - size;
  const top = turned || anchor === "middle" ? y - size : y - middle - size / 2;
  return [left, top, size];
}

export function writeAxes(
  { words, ticks }: { words: readonly Word[]; ticks: readonly Tick[] },
  colours: Inks,
): string {
  const lines = ticks.map(({ x, y, down }) =>
    down
      ? `<path d="M${figure(x)} ${figure(y - 4)}v3" stroke="${colours.faint}"/>`
      : `<path d="M${figure(x - 4)} ${figure(y)}h3" stroke="${colours.faint}"/>`,
  );
  const texts = words.map((word) => {
    const { text, x, y, turned, anchor, tone, crop } = word;
    if (crop) return writeCrop(crop, ...placeCrop(word));
    const look = { size: FONT_SIZE, fill: colours[tone], anchor };
    if (!turned) return label(text, x, y, look);
    return `<g transform="translate(${figure(x)} ${figure(y)}) rotate(-90)">${label(text, 0, 0, look)}</g>`;
  });
  return lines.join("") + texts.join("");
}
