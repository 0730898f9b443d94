/** Words of edits: their list, undo, the menu on a head. */

import type { SameWords } from "../../i18n/core";
import type * as en from "./edit_words.en";

export const edits: SameWords<typeof en.edits> = {
  edits: "对模型的修改",
  removeEdit: "取消这项修改",
  undo: "撤销",
  redo: "重做",
  clear: "取消全部修改",
  back: "回到原记录",
  compare: "与未修改的比较",
  before: "修改前",
  after: "修改后",
  openEffects: "每个头的影响……",
  headAt: (layer, head) => `第 ${layer} 层，头 ${head}`,
};
