/** What each step of the walk does, and why: a name and a few sentences. */

import { loadWords } from "../../i18n/core";
import type * as en from "./step_words.en";

const files = import.meta.glob<typeof en>("./step_words.*.ts", { eager: true });

export const titles = loadWords(files, "titles");

export const sentences = loadWords(files, "sentences");
