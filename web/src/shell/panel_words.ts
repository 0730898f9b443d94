/** Words of the panels: input, interpretability, debugging, about. */

import { loadWords } from "../i18n/core";
import type * as en from "./panel_words.en";

const files = import.meta.glob<typeof en>("./panel_words.*.ts", { eager: true });

export const panels = loadWords(files, "panels");
