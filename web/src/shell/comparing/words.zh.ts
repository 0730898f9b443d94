/** 两份记录比较的文字。 */

import type { SameWords } from "../../i18n/core";
import type * as en from "./words.en";

export const comparing: SameWords<typeof en.comparing> = {
  compare: "比较",
  with: "比较对象",
  choose: "选择一份记录……",
  parent: "编辑之前",
  sameText: "相同文本",
  sameModel: "相同模型",
  others: "其他",
  none: "没有其他可比较的记录。请在另一个模型中运行此文本，或运行另一段文本，再回到这里。",
  how: "显示",
  both: "并排",
  difference: "差",
  swap: "交换第一份与第二份",
  end: "结束比较",
  minus: (first, second) => `${first} − ${second}`,
  first: "第一份",
  second: "第二份",
  reading: "第一份减第二份：红色表示第一份更多，蓝色表示第二份更多。",
  refused: "这两份记录无法相减，因此并排显示。为什么？",
  aligned: "文本如何对齐",
  cannot: (view) => `“${view}”无法显示这份记录`,
};
