/** Words of the embeddings view. */

import type { SameWords } from "../../i18n/core";
import type * as en from "./words.en";

export const words: SameWords<typeof en.words> = {
  title: "词嵌入",
  about: "把词元画成点：输入词嵌入、输出词嵌入以及中间每一层，可看平面投影或分布。",
  as: "显示为",
  points: "散点",
  distributions: "分布",
  by: "投影",
  pca: "PCA",
  umap: "UMAP",
  layer: "层",
  input: "输入词嵌入",
  output: "输出词嵌入",
  play: "逐层播放",
  stop: "停止",
  axis: (number: number, share: string) => `PC${number}：占方差 ${share}`,
  umapNote: "UMAP 让相邻的点保持相邻；组间距离与方向没有含义。15 个近邻，随机种子固定。",
  pcaNote: "对所示词元的精确主成分；层间旋转对齐，使点移动最少。",
  working: "正在计算投影……",
  shown: (first: string, last: string, count: string) => `显示第 ${first}–${last} 个词元，共 ${count} 个。`,
  from: "起始词元",
  plot: "词元散点图。方向键在词元间移动，加减号缩放。",
  position: "在文本中的位置",
  nearest: "最近的词元",
  nearestMeans: "按全部维度上状态向量的余弦相似度",
  pick: "指向或点击一个词元，可查看它的上下文和最近的词元。",
  values: "数值",
  norms: "词元的范数",
  valueAxis: "各维度的值",
  normAxis: "词元状态向量的长度",
  allLayers: "所有层",
  moments: (count: string, mean: string, deviation: string) =>
    `共 ${count} 个数，均值 ${mean}，标准差 ${deviation}`,
  columnX: "x",
  columnY: "y",
  one: "单个词元只有一个点。",
};
