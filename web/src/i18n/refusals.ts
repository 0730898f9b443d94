/** The server explains in both languages; the page says the one that is read. */

import type { Refusal } from "../source";
import type { Language } from "../types";

export function explain(refusal: Refusal, language: Language): string {
  return (language === "zh" && refusal.zh) || refusal.sentence;
}
