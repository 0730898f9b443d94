/** 训练时间控件的文字。 */

import type { SameWords } from "../../i18n/core";
import type * as en from "./words.en";

export const training: SameWords<typeof en.training> = {
  time: "训练",
  stepOf: (step, last) => `第 ${step} 步，共 ${last} 步`,
  beforeFirst: "训练开始之前",
  play: "播放训练过程",
  pause: "暂停",
  previous: "训练中较早的一步",
  next: "训练中较晚的一步",
  text: "文本",
  run: (run) => `运行 ${run}`,
  runHint: "这次训练的曲线和各个头",
  watch: "观看注意力如何被学会",
  watchHint: (steps) => `一段在训练的 ${steps} 个步骤上记录的文本`,
};
