/** Words of the text view. */

import type { SameWords } from "../../i18n/core";
import type * as en from "./words.en";

export const words: SameWords<typeof en.words> = {
  title: "文本",
  about: "在原文上着色：所选词元注意了什么，或者什么注意了它。",
  show: "显示",
  out: "它注意什么",
  in: "什么注意它",
  received: "总体注意什么",
  receivedHint: "每个词元从所有词元那里得到的注意力总和。",
  onlyReceived:
    "这张注意力图只有统计量，没有权重：只能显示每个词元总共得到的注意力。若要看更多，请在记录时把 weights（或 queries 与 keys）加入 `want`。",
  text: "文本",
  queries: "查询：谁在看",
  keys: "键：谁被看",
  idle: "单击或用方向键选择一个词元。",
  looksAt: (token: string, index: number) => `${token}（${index}）注意：`,
  seenBy: (token: string, index: number) => `注意 ${token}（${index}）的有：`,
  receivedBest: "得到注意力最多的是：",
  value: (token: string, index: number, weight: string) => `${token}（${index}）：${weight}`,
  nothing: "无",
  earlier: "前一段",
  later: "后一段",
  windowed: (first: string, last: string, count: string) => `第 ${first}–${last} 个词元，共 ${count} 个`,
  strip: "整篇文本：颜色表示权重落在哪里。单击可跳到该处。",
  head: (head: number) => `注意力头 ${head}`,
  mean: "本层各头的平均",
  model: "所有层的平均",
  captionScale: (maximum: string) => `颜色从 0 到 ${maximum}。`,
  signedOf: (token, index) => `${token}（${index}）作为查询时的数值：`,
  signedAt: (token, index) => `${token}（${index}）作为键时的数值：`,
  signedBest: "对所有查询求和：",
  captionSigned: (most, least) => `蓝到红：从 ${least} 经 0 到 ${most}。`,
  columnValue: "数值",
  columnWeight: "权重",
  columnMass: "得到的注意力",
};
