/** One token by its number, fetched with its neighbours and remembered by the source. */

import { useEffect, useState } from "preact/hooks";
import type { SideName } from "../api/types";
import type { RecordingSource } from "../core/source";
import { SideTokens } from "../data/side_tokens";

/** What a token looks like; its number until that is known. */
export function useToken(source: RecordingSource, side: SideName, token: number | null): string {
  const [known, setKnown] = useState<{ readonly of: string; readonly shown: string } | null>(null);
  const of = `${source.description.id} ${side} ${token}`;
  useEffect(() => {
    if (token === null) return;
    let gone = false;
    shownToken(source, side, token).then(
      (shown) => {
        if (!gone) setKnown({ of, shown });
      },
      () => {},
    );
    return () => {
      gone = true;
    };
  }, [source, side, token, of]);
  if (token === null) return "";
  return known?.of === of ? known.shown : `#${token}`;
}

export async function shownToken(source: RecordingSource, side: SideName, token: number): Promise<string> {
  const tokens = new SideTokens(source, side);
  await tokens.load(token, token + 1);
  return tokens.get(token) ?? `#${token}`;
}
