/** Why the server refused, in the language of the page. */

import type { Language } from "../api/types";
import { formatText } from "./messages";
import { Refusal } from "./source";

export function explain(refusal: Refusal, language: Language): string {
  const first = refusal.cause instanceof Refusal ? refusal.cause : refusal; // as it came, before a view was told
  const { sentence, zh, said } = first;
  if (language === "en") return sentence;
  return said ? formatText({ en: sentence, zh: zh ?? sentence, ...said }, language) : (zh ?? sentence);
}
