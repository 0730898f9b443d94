/** What hosts say: why there is no answer. */

import { loadWords } from "./core";
import type * as en from "./hosts.en";

const files = import.meta.glob<typeof en>("./hosts.*.ts", { eager: true });

export const words = loadWords(files, "words");
