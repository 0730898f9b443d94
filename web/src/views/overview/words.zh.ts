/** Words of the overview. */

import type { SameWords } from "../../i18n/core";
import type * as en from "./words.en";

export const words: SameWords<typeof en.words> = {
  title: "总览",
  about: "一眼看遍模型的所有注意力头：每个头一幅小热力图，单击即可打开。",
  group: (stack: string, kind: string) =>
    `${stack === "encoder" ? "编码器" : stack === "decoder" ? "解码器" : stack} · ${
      kind === "cross" ? "交叉注意力" : "自注意力"
    }`,
  groupStep: (step: number) => `第 ${step} 步`,
  measure: "指标",
  noMeasure: "无",
  order: "排序",
  byLayer: "按层",
  highFirst: "从高到低",
  lowFirst: "从低到高",
  keep: "显示",
  atLeast: "不低于",
  atMost: "不高于",
  threshold: (measure: string) => `${measure}的阈值`,
  shown: (kept: number, all: number) => `${all} 个头中的 ${kept} 个`,
  colours: "颜色",
  own: "每头自定",
  shared: "0–1",
  oneScale: "统一标尺",
  pool: "像素",
  mean: "平均值",
  max: "最大值",
  measuring: "正在计算……",
  head: (layer: number, head: number) => `第 ${layer} 层，注意力头 ${head}`,
  open: "单击或按回车：在热力图中打开",
  undefined: (why: string) => `无定义：${why}`,
  unknown: "没有数值",
  list: (count: number) => `${count} 个注意力头的小热力图。方向键移动，回车在热力图中打开。`,
  axes: "行是查询，列是键；颜色越醒目，关注越多。",
  signedAxes: "行是查询，列是键。",
  reach: (top: string) => `所有头共用一把标尺，从 −${top} 到 ${top}。`,
  hidden: "灰色：被掩码遮住。",
  caption: (model: string, heads: number) => `${model}：${heads} 个注意力头；行是查询，列是键。`,
  barCaption: (measure: string, low: string, high: string) => `条形：${measure}，从 ${low} 到 ${high}。`,
  coloursOwn: "颜色：每个头从 0 到它自己的最大值，平方根标尺。",
  coloursShared: "颜色：权重从 0 到 1，平方根标尺。",
  signed: "带符号的值：蓝色为负，红色为正；大小不计符号。",
  tableCaption: "注意力头",
  empty: "没有注意力头符合筛选条件。",
};
