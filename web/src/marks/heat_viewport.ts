/**
 * The part of a map that is looked at: where its cells are in the plot, and how to see others.
 *
 * In:   the map's extent, the box of the cells in the plot (CSS pixels).
 * Out:  cameras, cells at places, words for the link.
 */

import type { Camera, Extent, Scene } from "../core/heat";
import { clamp, isFitted, readCamera, reveal, wholeMap, writeCamera, zoomAbout } from "../core/heat_camera";
import type { PlotBox } from "./heat_axes";
import type { Cell } from "./heat_overlay";

const STEP = 1.5; // a press of + or −

export class Viewport {
  extent: Extent = { queries: 1, keys: 1 };
  box: PlotBox = { left: 64, top: 64, width: 0, height: 0 };
  camera: Camera = { key: 0, query: 0, wide: 1, high: 1 };

  /** The part in view, for the link; null for the whole map. */
  write(): string | null {
    return isFitted(this.camera, this.extent, this.box) ? null : writeCamera(this.camera, this.box);
  }

  /** See the part that a link names, or all. */
  read(at: string | null | undefined): void {
    const { extent, box } = this;
    this.camera = readCamera(at ?? undefined, extent, box) ?? wholeMap(extent, box);
  }

  panned(dx: number, dy: number): Camera {
    const { key, query, wide, high } = this.camera;
    return clamp({ key: key - dx / wide, query: query - dy / high, wide, high }, this.extent, this.box);
  }

  /** About a place in the plot. */
  zoomed(x: number, y: number, factor: number): Camera {
    const { left, top } = this.box;
    return zoomAbout(this.camera, x - left, y - top, factor, this.extent, this.box);
  }

  /** By a step about a cell, or the middle; 0 shows all. */
  stepped(direction: -1 | 0 | 1, about: Cell | null): Camera {
    if (direction === 0) return wholeMap(this.extent, this.box);
    const { query, key } =
      about === null ? this.centre() : { query: about.query + 0.5, key: about.key + 0.5 };
    return this.zoomed(...this.placeOf(query, key), STEP ** direction);
  }

  /** Moved so that a cell is in view. */
  revealed(cell: { readonly query: number | null; readonly key: number | null }): Camera {
    return reveal(this.camera, cell, this.extent, this.box);
  }

  /** Where a row and a column begin in the plot. */
  placeOf(query: number, key: number): readonly [x: number, y: number] {
    const { box, camera } = this;
    return [box.left + (key - camera.key) * camera.wide, box.top + (query - camera.query) * camera.high];
  }

  cellAt(x: number, y: number): Cell | null {
    const { box, camera, extent } = this;
    if (x < box.left || y < box.top) return null;
    const key = Math.floor(camera.key + (x - box.left) / camera.wide);
    const query = Math.floor(camera.query + (y - box.top) / camera.high);
    return key < extent.keys && query < extent.queries ? { query, key } : null;
  }

  /** The cell in the middle of what is seen of the map. */
  middle(): Cell {
    const { box, camera, extent } = this;
    const between = (first: number, seen: number, count: number): number =>
      Math.floor((first + Math.min(count, first + seen)) / 2);
    return {
      query: between(camera.query, box.height / camera.high, extent.queries),
      key: between(camera.key, box.width / camera.wide, extent.keys),
    };
  }

  /** What would be in the middle of the box, between cells and beyond the map too. */
  centre(): Cell {
    const { box, camera } = this;
    return {
      query: camera.query + box.height / camera.high / 2,
      key: camera.key + box.width / camera.wide / 2,
    };
  }

  /** A cell so many rows down and columns right of another, within the map. */
  beside(from: Cell, down: number, right: number): Cell {
    const hold = (value: number, count: number): number => Math.max(0, Math.min(count - 1, value));
    return {
      query: hold(from.query + down, this.extent.queries),
      key: hold(from.key + right, this.extent.keys),
    };
  }

  /** The same on a surface of so many device pixels per CSS pixel. */
  scaled(ratio: number): Pick<Scene, "width" | "height" | "camera" | "extent"> {
    const { box, camera, extent } = this;
    return {
      width: box.width * ratio,
      height: box.height * ratio,
      camera: { ...camera, wide: camera.wide * ratio, high: camera.high * ratio },
      extent,
    };
  }
}
