/** Words for what is in focus: maps, heads, layers; shared by views that show numbers. */

import { loadWords } from "./core";
import type * as en from "./focus.en";

const files = import.meta.glob<typeof en>("./focus.*.ts", { eager: true });

export const words = loadWords(files, "words");
