/** What hosts without a server say. */

import { defineStrings } from "./core";

export const words = defineStrings({
  en: {
    notInFile:
      "This file was exported without these numbers. Export it again with more (hidden, vectors, exact), or open the recording in Glassformer.",
    noWalk:
      "The walk shows the numbers of every step, which this recording did not keep. Record with `want` trace and export again.",
  },
  zh: {
    notInFile:
      "导出此文件时没有包含这些数值。请重新导出并选择更多内容（hidden、vectors、exact），或在 Glassformer 中打开该记录。",
    noWalk:
      "逐步演示要显示每一步的数值，而这份记录没有保存它们。请在记录时把 trace 加入 `want`，然后重新导出。",
  },
});
