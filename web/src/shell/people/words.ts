/** Words of the dialog of a person, by language. */

import { loadWords } from "../../i18n/core";
import type * as en from "./words.en";

const files = import.meta.glob<typeof en>("./words.*.ts", { eager: true });

export const words = loadWords(files, "people");
