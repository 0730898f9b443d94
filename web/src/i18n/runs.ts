/** Words for training runs that several views share. */

import { loadWords } from "./core";
import type * as en from "./runs.en";

const files = import.meta.glob<typeof en>("./runs.*.ts", { eager: true });

export const words = loadWords(files, "words");
export type RunWords = ReturnType<typeof words>;
