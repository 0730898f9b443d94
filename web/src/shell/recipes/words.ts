/** Words of training from the page. */

import { loadWords } from "../../i18n/core";
import type * as en from "./words.en";

const files = import.meta.glob<typeof en>("./words.*.ts", { eager: true });

export const recipeWords = loadWords(files, "recipes");
