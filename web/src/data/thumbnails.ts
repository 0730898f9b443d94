/**
 * Small pictures of all heads, as bytes on a square-root scale.
 *
 * In:   a source.
 * Out:  the picture of a map's heads, one after the other.
 */

import { tensor } from "../api/frames";
import type { MapDescription } from "../api/types";
import { bytesOf } from "../core/heat";
import type { RecordingSource } from "../core/source";
import { thumbnailLevel } from "./heat_tiles";

export interface HeadPictures {
  readonly heads: number;
  readonly height: number; // pixels
  readonly width: number;
  readonly level: number; // a pixel shows 2**level tokens
  readonly bytes: Uint8Array; // (head, row, column)
  readonly maximum: number; // the weight of the largest byte
  readonly zero: 0 | 128; // the byte of zero: 128 where values are signed
}

export async function readThumbnails(
  source: RecordingSource,
  how: "mean" | "max",
): Promise<(map: MapDescription) => HeadPictures> {
  const frame = await source.thumbnails(how);
  return (map) => {
    const all = tensor(frame, map.place.address);
    const [heads = 0, height = 0, width = 0] = all.shape;
    return { heads, height, width, level: thumbnailLevel(map, height, width), ...bytesOf(all) };
  };
}
