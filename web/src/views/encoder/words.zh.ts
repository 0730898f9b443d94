/** Words of the encoder view. */

import type { SameWords } from "../../i18n/core";
import type * as en from "./words.en";

export const words: SameWords<typeof en.words> = {
  title: "编码器",
  about: "每个词元经过每一层之后的状态，颜色表示该层带来的变化量、范数或某个神经元的值。",
  by: "着色依据",
  norm: "范数",
  normMeans: "词元隐藏状态向量的长度。",
  change: "变化量",
  changeMeans: "隐藏状态在一层之内移动的距离；词嵌入之前没有层，因此没有值。",
  neuron: "神经元",
  neuronMeans: (neuron: number) => `隐藏状态第 ${neuron} 维的值。`,
  neuronNumber: "编号",
  range: "颜色",
  eachLayer: "每层单独",
  allLayers: "所有层统一",
  eachMeans: "每一层的颜色从该层的最小值到最大值；色条对应当前层。",
  allMeans: "所有层使用同一颜色刻度。",
  scale: "刻度",
  linear: "线性",
  logarithmic: "对数",
  layers: "经过的层数（0 为词嵌入）",
  grid: "每个词元经过每一层之后的激活值。方向键移动，回车键聚焦词元。",
  profile: "随层变化",
  median: "全部词元的中位数",
  band: "中间 80 %",
  readout: (token: string, index: string, layers: string, value: string) =>
    `${token}（${index}），${layers}：${value}`,
  idle: "指向一个格子即可读取数值；点击可聚焦该词元。",
  undefined: "未定义",
  loading: "正在载入激活值……",
  whole: "全文（相邻词元取平均）",
  columnLayer: (layer: number) => `第 ${layer} 层`,
};
