/** The server explains in both languages; the page says the one that is read. */

import { Refusal } from "../source";
import type { Language } from "../types";

export function explain(refusal: Refusal, language: Language): string {
  const said = refusal.cause instanceof Refusal ? refusal.cause : refusal; // as it came, before a view was told
  return (language === "zh" && said.zh) || said.sentence;
}
