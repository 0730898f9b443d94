/** Words of the view of heads in training. */

import type { SameWords } from "../../i18n/core";
import type { words as en } from "./words.en";

const STATISTICS: Readonly<Record<string, readonly [name: string, meaning: string]>> = {
  entropy: ["熵", "各行熵的平均值（奈特）；全部权重落在一个键上时为 0。"],
  entropy_share: ["熵占比", "熵占其最大可能值的比例；1 表示均匀注意力。"],
  peak: ["最大权重", "每行最大权重的平均值。"],
  sink: ["首个键的权重", "落在第一个键上的平均权重；注意力汇聚点在此处的权重很大。"],
  distance: ["距离", "查询到键的距离按权重的平均值，单位为词元。"],
  induction: ["归纳", "落在同一词元上次出现之后那个词元上的平均权重。"],
  score: ["最大分数", "softmax 之前，可见键的最大分数绝对值（0.1 版的日志）。"],
  spread: ["分数跨度", "softmax 之前，每行最大分数与最小分数之差，对各行取平均。"],
  contribution: ["贡献", "该头加入残差流的向量的平均长度。"],
  likeness: ["相似度", "该头的模式（减去均匀模式）与同一注意力图中最相似的头的余弦。"],
  twin: ["最相似的头", "同一注意力图中最相似的头的编号。"],
};

export const words: SameWords<typeof en> = {
  title: "训练中的头",
  about: "监视器每次查看时的每一个头：注意力在何处变得集中、失效或成为另一个头的副本。",
  statistic: "统计量",
  statisticName: (name: string) => STATISTICS[name]?.[0] ?? name,
  meaning: (name: string) => STATISTICS[name]?.[1] ?? "",
  run: "运行",
  grid: "各头随步数的变化。方向键在头和步数之间移动。",
  cell: (head: string, step: string, value: string) => `${head}，第 ${step} 步：${value}`,
  curve: (statistic: string, map: string) => `${statistic} · ${map}`,
  alarms: "关于头的警报",
  form: "显示为",
  asCells: "热力图",
  asCurves: "小曲线",
  allSteps: "全部步数",
  loading: "正在加载各个头……",
  noHeads: "监视器没有查看这次运行的头。请在训练配方中设置 `monitor.every`。",
  watch: "单击后按回车：查看最近一次记录的注意力",
  none: "无定义",
};
