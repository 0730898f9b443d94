/**
 * The picture or the sound that tokens were cut from.
 *
 * In:   a source, a side.
 * Out:  something that a canvas can draw; samples that a loudspeaker can play.
 */

import type { SideName } from "../api/types";
import type { RecordingSource } from "../core/source";

export async function readPicture(source: RecordingSource, side: SideName): Promise<ImageBitmap> {
  const bytes = await source.media("picture", side);
  return createImageBitmap(new Blob([bytes], { type: "image/png" }), { colorSpaceConversion: "none" });
}

const HEADER = 44; // bytes of a WAV as the server writes it

export async function readSamples(source: RecordingSource, side: SideName): Promise<Int16Array<ArrayBuffer>> {
  const bytes = await source.media("sound", side);
  const view = new DataView(bytes);
  const count = Math.max(0, (bytes.byteLength - HEADER) >> 1);
  return Int16Array.from({ length: count }, (_, at) => view.getInt16(HEADER + 2 * at, true));
}
