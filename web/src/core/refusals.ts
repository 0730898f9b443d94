/** The server explains in both languages; the page says the one that is read. */

import type { Language } from "../api/types";
import { Refusal } from "./source";

export function explain(refusal: Refusal, language: Language): string {
  const said = refusal.cause instanceof Refusal ? refusal.cause : refusal; // as it came, before a view was told
  return (language === "zh" && said.zh) || said.sentence;
}
