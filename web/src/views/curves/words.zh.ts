/** Words of the curves view. */

import type { SameWords } from "../../i18n/core";
import type { words as en } from "./words.en";

const CHARTS: Readonly<Record<string, string>> = {
  loss: "损失",
  norm: "梯度范数",
  norm_by_layer: "各层的梯度范数",
  rate: "学习率",
  throughput: "每秒词元数",
  memory: "内存（MB）",
  accuracy: "准确率",
  macro_f1: "F1（各标签平均）",
  f1_by_layer: "各标签的 F1",
  span_f1: "完整名称的 F1",
  span_precision: "完整名称的精确率",
  span_recall: "完整名称的召回率",
  relation_accuracy: "第二个任务的准确率",
  perplexity: "困惑度",
  bits_per_byte: "每字节比特数",
  mse: "均方误差",
  mae: "平均绝对误差",
  pearson: "皮尔逊相关系数",
  spearman: "斯皮尔曼相关系数",
  bleu: "BLEU",
  chrf: "chrF",
};
const SPLITS: Readonly<Record<string, string>> = {
  train: "训练集",
  dev: "验证集",
  test: "测试集",
  averaged: "平均权重",
};

export const words: SameWords<typeof en> = {
  title: "训练曲线",
  about: "一次或多次训练运行的损失、分数、学习率和梯度范数随步数的变化，以及警报。",
  smoothing: "平滑",
  smoothed: (kept: string) => (kept === "0" ? "关" : kept),
  logY: "数值取对数",
  logX: "步数取对数",
  allSteps: "全部步数",
  chart: (name: string) =>
    CHARTS[name] ?? name.replace(/^(bleu|chrf)_/, (_, kind: string) => `${CHARTS[kind]} `), // of a pair of languages
  split: (name: string) => SPLITS[name] ?? name,
  atStep: (step: string) => `第 ${step} 步`,
  charts: "曲线。方向键移动所选步数；加号和减号缩放；0 显示全部步数；N 和 P 跳到下一个和上一个警报。",
  howToZoom: "在图上拖动可放大；按住 Ctrl 滚动滚轮也可缩放；双击显示全部步数。",
  alarmCount: (alarms: string) => `${alarms} 个警报`,
  best: (name: string, value: string) => `最佳 ${name} ${value}`,
  leave: "去掉这次运行",
  events: "事件",
  recipe: "训练配方",
  environment: "机器与版本",
  data: "数据",
  dataTable: {
    columns: {
      split: "数据集",
      examples: "样本数",
      tokens: "词元数",
      lengths: "每个样本的词元数：最少 / 中位 / 最多",
      classes: "类别",
    },
    overlap: (split: string, other: string, rows: string, share: string) =>
      `${split} 中有 ${rows} 行（${share}）也在 ${other} 中。`,
    epochs: (epochs: string) => `这次运行将训练数据读 ${epochs} 遍。`,
    vocabulary: (size: string) => `词表：${size} 个词元。`,
  },
  samples: "样例",
  evaluation: "评估",
  sampleInput: "文本",
  sampleOutput: "网络的输出",
  sampleWanted: "期望的输出",
  differences: "不同的设置",
  same: "训练配方没有差别。",
  setting: "设置",
  loading: "正在加载曲线……",
  damaged: (lines: string) => `日志中有 ${lines} 行无法读取，已略去。`,
  noCurves: "日志中还没有内容。页面会跟踪这次运行，一有数字就显示。",
  none: "–",
  columns: { run: "运行", curve: "曲线", split: "数据集", value: "值", low: "最小值", high: "最大值" },
  steps: (steps: string) => `${steps} 步`,
};
