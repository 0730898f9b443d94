/**
 * The camera over a heat map: wholeMap, zoom about a point, pan within bounds, and its words in the URL.
 *
 * In:   sizes in CSS pixels, cells.
 * Out:  cameras whose scale is CSS pixels per cell.
 */

import { figure } from "./formats";
import type { Camera, Extent } from "./heat";

export interface Size {
  readonly width: number;
  readonly height: number;
}

const LARGEST = 96; // CSS pixels a cell
const ROOMY = 64; // a fitted cell is not larger than this

/** The whole map in view. */
export function wholeMap(extent: Extent, size: Size): Camera {
  const scale = Math.min(
    size.width / Math.max(1, extent.keys),
    size.height / Math.max(1, extent.queries),
    ROOMY,
  );
  return { key: 0, query: 0, scale: Math.max(scale, 1e-6) };
}

/** Within the bounds: no further out than the whole map, and no empty space where there could be cells. */
export function clamp(camera: Camera, extent: Extent, size: Size): Camera {
  const least = wholeMap(extent, size).scale;
  const scale = Math.max(least, Math.min(Math.max(LARGEST, least), camera.scale));
  const hold = (first: number, count: number, pixels: number): number =>
    Math.max(0, Math.min(first, count - pixels / scale));
  return {
    key: hold(camera.key, extent.keys, size.width),
    query: hold(camera.query, extent.queries, size.height),
    scale,
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
  const { scale } = clamp({ ...camera, scale: camera.scale * factor }, extent, size);
  return clamp(
    {
      key: camera.key + x / camera.scale - x / scale,
      query: camera.query + y / camera.scale - y / scale,
      scale,
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
  const shift = (first: number, place: number | null, pixels: number): number => {
    if (place === null) return first;
    const seen = pixels / camera.scale;
    const room = Math.min(2, Math.max(0, (seen - 1) / 2));
    if (place < first + room) return place - room;
    if (place + 1 > first + seen - room) return place + 1 - seen + room;
    return first;
  };
  const key = shift(camera.key, cell.key, size.width);
  return clamp(
    { key, query: shift(camera.query, cell.query, size.height), scale: camera.scale },
    extent,
    size,
  );
}

export function isFitted(camera: Camera, extent: Extent, size: Size): boolean {
  return camera.scale <= wholeMap(extent, size).scale * 1.0001;
}

/** The middle of the view and how many keys are seen across: the same part of the map on another screen. */
export function writeCamera(camera: Camera, size: Size): string {
  const across = size.width / camera.scale;
  const [key, query] = [camera.key + across / 2, camera.query + size.height / camera.scale / 2];
  return [key, query, across].map((number) => figure(number)).join("_");
}

/** Null if these are no words of a camera. */
export function readCamera(words: string | undefined, extent: Extent, size: Size): Camera | null {
  const [key, query, across] = (words ?? "").split("_").map(Number);
  if (key === undefined || query === undefined || across === undefined) return null;
  if (![key, query, across].every(Number.isFinite) || across <= 0) return null;
  const scale = size.width / across;
  const limited = clamp({ key: 0, query: 0, scale }, extent, size).scale;
  return clamp(
    { key: key - size.width / limited / 2, query: query - size.height / limited / 2, scale: limited },
    extent,
    size,
  );
}
