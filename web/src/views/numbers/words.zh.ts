/** Words of the numbers view: the interpretability panel. */

import type { SameWords } from "../../i18n/core";
import type * as en from "./words.en";

export const words: SameWords<typeof en.words> = {
  title: "指标",
  about: "每个注意力头、每一层以及整个模型的可解释性指标，并说明每个数字的含义。",
  level: "统计单位",
  head: "注意力头",
  layer: "层",
  model: "整个模型",
  threshold: "大于 τ 记为非零",
  relative: "τ 为",
  absolute: "权重值",
  multiple: "1/n 的倍数",
  tauAbsolute: (value: string) => `τ = ${value}`,
  tauRelative: (value: string) => `τ = ${value} × 1/n`,
  tooLong: "τ = 0.01，为记录时的计数：文本过长，无法即时重新计数。",
  measuring: "正在计算……",
  wholeModel: "整个模型",
  undefined: "未定义",
  copy: "复制为 CSV",
  save: "保存为 CSV",
  where: "位置",
  more: "更多指标",
  unit: (unit: string) =>
    ({
      "non-zero : zero": "非零 : 零",
      share: "占比",
      keys: "个键",
      nats: "奈特",
      tokens: "个词元",
      cluster: "类",
    })[unit] ?? unit,
  slow: "需要读取全部权重，长文本耗时较长",
  grid: "各头对比",
  gridAbout: (metric: string) => `每个注意力头的${metric}。方向键可移到其他头。`,
  layers: "层",
  heads: "注意力头",
  along: "随文本变化",
  alongOf: (name: string) =>
    ({ entropy: "熵", peak: "最大权重", above: "大于 0.01 的权重数", distance: "平均距离" })[name] ?? name,
  alongMeans: (name: string) => `从第一个到最后一个查询的${name}；各行使用同一刻度。`,
  step: (step: number) => `生成的第 ${step} 步。`,
  caption: (level: string) => `每个${level}的指标`,
  notLevel: (level: string) => `该指标没有针对${level}的值。`,
  rowLayer: (layer: number) => `第 ${layer} 层`,
  rowHead: (layer: number, head: number) => `${layer} 层 ${head} 头`,
};
