/**
 * The picture or the sound that tokens were cut from.
 *
 * In:   a source, a side.
 * Out:  something that a canvas can draw; samples that a loudspeaker can play.
 */

import type { RowSide, SideName } from "../api/types";
import type { Crop } from "../core/heat";
import type { RecordingSource } from "../core/source";

export async function readPicture(source: RecordingSource, side: SideName): Promise<ImageBitmap> {
  const bytes = await source.media("picture", side);
  return createImageBitmap(new Blob([bytes], { type: "image/png" }), { colorSpaceConversion: "none" });
}

/** The part of the picture that each token of a side was cut from; null where it is none. */
export async function readCrops(
  source: RecordingSource,
  side: RowSide,
): Promise<(token: number) => Crop | null> {
  const picture = source.description[side]?.picture;
  if (side === "written" || !picture) return () => null;
  const image = await readPicture(source, side);
  const [wide, high] = [picture.width / picture.columns, picture.height / picture.rows];
  return (token) => {
    const cell = picture.cells[token] ?? -1;
    const [row, column] = [Math.floor(cell / picture.columns), cell % picture.columns];
    return cell < 0 ? null : { image, box: [column * wide, row * high, wide, high] };
  };
}

const MOST_PATCHES = 1024; // that are laid out one by one

const HEADER = 44; // bytes of a WAV as the server writes it

export async function readSamples(source: RecordingSource, side: SideName): Promise<Int16Array<ArrayBuffer>> {
  const bytes = await source.media("sound", side);
  const view = new DataView(bytes);
  const count = Math.max(0, (bytes.byteLength - HEADER) >> 1);
  return Int16Array.from({ length: count }, (_, at) => view.getInt16(HEADER + 2 * at, true));
}

/** How tokens of a side lie in their picture; null where they are no patches. */
export async function readLayout(source: RecordingSource, side: RowSide) {
  const picture = source.description[side]?.picture;
  if (side === "written" || !picture || picture.rows * picture.columns > MOST_PATCHES) return null;
  const crop = await readCrops(source, side);
  return { columns: picture.columns, cellOf: (token: number) => picture.cells[token] ?? -1, crop };
}
