/**
 * Atlases: what every head of a model does, over many texts.
 *
 * In:   the id of an atlas.
 * Out:  its cards; the recordings of its examples, opened once; another atlas beside it.
 */

import type { AtlasDescription, AtlasEntry, AtlasPairs } from "../api/types";
import type { RecordingSource, Source, StudySource } from "../core/source";
import type { Connection } from "./http";

export async function openAtlas(
  connection: Connection,
  open: Source["open"],
  id: string,
  signal?: AbortSignal,
): Promise<StudySource> {
  const address = (atlas: string): string => `atlases/${encodeURIComponent(atlas)}`;
  const atlas = await connection.json<AtlasDescription>(address(id), signal ? { signal } : {});
  const make = (scope: RequestInit): StudySource => ({
    atlas,
    within: (ending) => make({ signal: ending }),
    async example(number): Promise<RecordingSource | null> {
      const recording = atlas.examples[String(number)];
      if (recording === undefined) return null;
      const source = await open(recording, scope.signal ?? undefined);
      return scope.signal ? source.within(scope.signal) : source;
    },
    async others() {
      const all = await connection.json<readonly AtlasEntry[]>("atlases", scope);
      return all.filter((entry) => entry.id !== id);
    },
    async beside(other) {
      const [description, pairs] = await Promise.all([
        connection.json<AtlasDescription>(address(other), scope),
        connection.json<AtlasPairs>(`${address(id)}/beside/${encodeURIComponent(other)}`, scope),
      ]);
      return { atlas: description, pairs };
    },
  });
  return make({});
}
