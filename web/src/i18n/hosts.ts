/** What hosts without a server say. */

import { defineStrings } from "./core";

export const words = defineStrings({
  en: {
    notInFile:
      "This file was exported without these numbers. Export it again with more (hidden, vectors, exact), or open the recording in Glassformer.",
  },
  zh: {
    notInFile:
      "导出此文件时没有包含这些数值。请重新导出并选择更多内容（hidden、vectors、exact），或在 Glassformer 中打开该记录。",
  },
});
