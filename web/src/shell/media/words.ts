/** Words of the fields for pictures and sounds, by language. */

import { loadWords } from "../../i18n/core";
import type * as en from "./words.en";

const files = import.meta.glob<typeof en>("./words.*.ts", { eager: true });

export const words = loadWords(files, "media");
