/** Words of the shell: header, tabs, controls, states, help; and with them those of its panels. */

import type { Language } from "../api/types";
import { loadWords } from "../i18n/core";
import { words as hosts } from "../i18n/hosts";
import { panels } from "./panel_words";
import type * as en from "./words.en";

const files = import.meta.glob<typeof en>("./words.*.ts", { eager: true });

export const shell = loadWords(files, "shell");

export type AppWords = ReturnType<typeof shell> & ReturnType<typeof panels> & ReturnType<typeof hosts>;

let parts: readonly object[] = [];
let together: AppWords | null = null; // hundreds of entries, read dozens of times whenever a head is switched

export function words(language: Language): AppWords {
  const now = [shell(language), panels(language), hosts(language)] as const;
  if (together === null || now.some((part, at) => part !== parts[at])) {
    parts = now;
    together = { ...now[0], ...now[1], ...now[2] };
  }
  return together;
}
