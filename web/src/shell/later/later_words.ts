/** Words of what is fetched later: the glossary, the details of a guessed word. */

import { loadWords } from "../../i18n/core";
import type * as en from "./later_words.en";

const files = import.meta.glob<typeof en>("./later_words.*.ts", { eager: true });

export const later = loadWords(files, "later");
