/** What hosts say: why there is no answer. */

import type { SameWords } from "./core";
import type * as en from "./hosts.en";

export const words: SameWords<typeof en.words> = {
  notInFile:
    "导出此文件时没有包含这些数值。请重新导出并选择更多内容（hidden、vectors、exact），或在 Glassformer 中打开该记录。",
  unreachable: "服务器没有响应，正在重试……",
  answered: (status: number) => `服务器的回答是 ${status}。`,
  unreadable: "无法读取服务器的回答：内容不完整或已损坏。请重试。",
  unexpected: (details: string) => `页面出错：${details}`,
  noSameMap: (place: string) => `第二次运行在 ${place} 处没有注意力图，因此无法比较。`,
  noGif: "浏览器画不出这个 GIF，请把各步骤分别保存为 SVG。",
  lost: "结果在途中丢失。",
  noCanvas: "浏览器画不出这张 PNG，请保存为 SVG。",
  noRuns: "这个文件没有训练运行。",
  noModel: "此视图要运行模型，而文件里没有模型。请用 `glassformer serve` 打开该记录。",
  noAtlas: "这个文件没有图谱。",
  noPlayground: "试验场需要计算，文件做不到：请启动 glassformer，在其中打开“试验场”。",
  canvasLeftOut:
    "此文件不含隐藏状态，而四个面板中有三个要显示它们。请连同隐藏状态重新导出（`hidden=True`）；热力图可以查看注意力权重。",
  leftOutOfRun: "训练运行的文件为保持小巧，不含此视图。请用 `glassformer serve` 打开该运行来查看。",
  noWalk:
    "逐步演示要显示每一步的数值，而这份记录没有保存它们。请在记录时把 trace 加入 `want`，然后重新导出。",
};
