/**
 * Example texts of an atlas: what a little map of each is drawn from.
 *
 * In:   an atlas, the number of a text.
 * Out:  its recording, small pictures of all heads and the tokens of both sides; null where the atlas has none.
 */

import type { TokenSlice } from "../api/types";
import type { RecordingSource, StudySource } from "../core/source";
import { readThumbnails } from "./thumbnails";

export interface OpenedExample {
  readonly source: RecordingSource;
  readonly pictures: Awaited<ReturnType<typeof readThumbnails>>;
  readonly tokens: ReadonlyMap<string, TokenSlice>; // by side
}

export async function openExample(study: StudySource, number: number): Promise<OpenedExample | null> {
  const source = await study.example(number);
  if (!source) return null;
  const sides = new Set(source.description.maps.flatMap((map) => [map.query_side, map.key_side]));
  const [pictures, ...tokens] = await Promise.all([
    readThumbnails(source, "max"),
    ...[...sides].map(async (side) => [side, await source.tokens(side)] as const),
  ]);
  return { source, pictures, tokens: new Map(tokens) };
}
