/**
 * The camera over a heat map: wholeMap, zoom about a point, pan within bounds, and its words in the URL.
 *
 * In:   sizes in CSS pixels, cells.
 * Out:  cameras in CSS pixels per cell. Cells are as wide as the room allows: a map fills its box, within limits.
 */

import { figure } from "./formats";
import type { Camera, Extent } from "./heat";

export interface Size {
  readonly width: number;
  readonly height: number;
  readonly stretch?: number; // how many times wider than high a cell may be, or the other way round
}

const LARGEST = 96; // CSS pixels a cell is high when zoomed in
const WIDEST = 240; // a fitted cell is not larger than this
const HIGHEST = 120;
const STRETCH = 2.5; // of a cell, where the box does not say

/** The whole map in view. */
export function wholeMap(extent: Extent, size: Size): Camera {
  const most = (pixels: number, count: number, limit: number): number =>
    Math.max(1e-6, Math.min(pixels / Math.max(1, count), limit));
  const wide = most(size.width, extent.keys, WIDEST);
  const high = most(size.height, extent.queries, HIGHEST);
  const { stretch = STRETCH } = size;
  return { key: 0, query: 0, wide: Math.min(wide, stretch * high), high: Math.min(high, stretch * wide) };
}

/** Within the bounds: no further out than the whole map, and no empty space where there could be cells. */
export function clamp(camera: Camera, extent: Extent, size: Size): Camera {
  const least = wholeMap(extent, size);
  const high = Math.max(least.high, Math.min(Math.max(LARGEST, least.high), camera.high));
  const wide = (least.wide * high) / least.high;
  const hold = (first: number, count: number, seen: number): number =>
    Math.max(0, Math.min(first, count - seen));
  return {
    key: hold(camera.key, extent.keys, size.width / wide),
    query: hold(camera.query, extent.queries, size.height / high),
    wide,
    high,
  };
}

/** The cell under (x, y) stays under it. */
export function zoomAbout(
  camera: Camera,
  x: number,
  y: number,
  factor: number,
  extent: Extent,
  size: Size,
): Camera {
  const { wide, high } = clamp({ ...camera, high: camera.high * factor }, extent, size);
  return clamp(
    {
      key: camera.key + x / camera.wide - x / wide,
      query: camera.query + y / camera.high - y / high,
      wide,
      high,
    },
    extent,
    size,
  );
}

/** Moved so that a row and a column are in view, with a little room around them; null: no matter which. */
export function reveal(
  camera: Camera,
  cell: { readonly query: number | null; readonly key: number | null },
  extent: Extent,
  size: Size,
): Camera {
  const shift = (first: number, place: number | null, seen: number): number => {
    if (place === null) return first;
    const room = Math.min(2, Math.max(0, (seen - 1) / 2));
    if (place < first + room) return place - room;
    if (place + 1 > first + seen - room) return place + 1 - seen + room;
    return first;
  };
  const key = shift(camera.key, cell.key, size.width / camera.wide);
  const query = shift(camera.query, cell.query, size.height / camera.high);
  return clamp({ ...camera, key, query }, extent, size);
}

export function isFitted(camera: Camera, extent: Extent, size: Size): boolean {
  return camera.high <= wholeMap(extent, size).high * 1.0001;
}

/** The middle of the view and how many keys are seen across: the same part of the map on another screen. */
export function writeCamera(camera: Camera, size: Size): string {
  const across = size.width / camera.wide;
  const [key, query] = [camera.key + across / 2, camera.query + size.height / camera.high / 2];
  return [key, query, across].map((number) => figure(number)).join("_");
}

/** Null if these are no words of a camera. */
export function readCamera(words: string | undefined, extent: Extent, size: Size): Camera | null {
  const [key, query, across] = (words ?? "").split("_").map(Number);
  if (key === undefined || query === undefined || across === undefined) return null;
  if (![key, query, across].every(Number.isFinite) || across <= 0) return null;
  const least = wholeMap(extent, size);
  const asked = { ...least, high: (least.high * size.width) / across / least.wide };
  const { wide, high } = clamp(asked, extent, size);
  return clamp(
    { key: key - size.width / wide / 2, query: query - size.height / high / 2, wide, high },
    extent,
    size,
  );
}
