/** Words of edits: their list, undo, the menu on a head. */

import { loadWords } from "../../i18n/core";
import type * as en from "./edit_words.en";

const files = import.meta.glob<typeof en>("./edit_words.*.ts", { eager: true });

export const edits = loadWords(files, "edits");
