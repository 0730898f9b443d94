/** One token by its number, fetched with its neighbours and remembered by the source. */

import type { RowSide } from "../api/types";
import type { RecordingSource } from "../core/source";
import { SideTokens } from "../data/side_tokens";
import { useAnswer } from "./answer";

/** What a token looks like; its number until that is known. */
export function useToken(source: RecordingSource, side: RowSide, token: number | null): string {
  const question = token === null ? null : `${side} ${token}`;
  const { value, fresh } = useAnswer(source, question, async (asked) => {
    const tokens = new SideTokens(asked, side);
    await tokens.load(token!, token! + 1);
    return tokens.get(token!);
  });
  if (token === null) return "";
  return (fresh ? value : null) ?? `#${token}`;
}
