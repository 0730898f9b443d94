/** Words of the heat map, its axes and legend. */

import type { SameWords } from "../../i18n/core";
import type * as en from "./words.en";

export const words: SameWords<typeof en.words> = {
  title: "热力图",
  about: "每一行是一个查询，每一列是一个键：颜色越醒目，权重越大。",
  map: (stack: string, layer: number, kind: string) =>
    `${stack === "encoder" ? "编码器" : stack === "decoder" ? "解码器" : stack}第 ${layer} 层${
      kind === "cross" ? "交叉注意力" : "自注意力"
    }`,
  step: (step: number) => `第 ${step} 步`,
  head: (head: number) => `注意力头 ${head}`,
  layerMean: (heads: number) => `${heads} 个注意力头的平均`,
  modelMean: "所有层的平均",
  queries: "查询",
  keys: "键",
  query: "查询",
  written: "写出",
  entered: "输入",
  key: "键",
  colours: "满色对应",
  absolute: "1",
  perMap: "全图最大值",
  perRow: "本行最大值",
  absoluteHint: "最强的颜色表示权重 1",
  perMapHint: "最强的颜色表示图中最大的权重（长文本：视野中最大的）",
  perRowHint: "最强的颜色表示每一行最大的权重",
  signed: (most: string) => `带符号的值，蓝色为负、红色为正，满色对应 ± ${most}`,
  extreme: "离零最远的值",
  pool: "像素",
  mean: "平均值",
  max: "最大值",
  leave: "不计入",
  leaveNone: "无",
  leaveFirst: "首个键",
  leaveSpecial: "特殊词元",
  masked: "被掩码遮住，看不到",
  leftOut: "不计入",
  root: "平方根标尺",
  signs: "蓝色：小于零，红色：大于零；颜色越醒目，离零越远",
  rowShare: "占该行最大权重的比例",
  legend: (top: string, signed: boolean) => `颜色从 ${signed ? `负 ${top}` : 0} 到 ${top}，平方根标尺。`,
  pixel: (side: number, how: string) => `每个像素：${side} × ${side} 个权重的${how}`,
  coming: (count: number) => `正在读取 ${count} 个图块`,
  tileFailed: (why: string) => `有一部分未能读取，稍后会重试：${why}`,
  coarseAverage: "超过 1,024 个词元时，平均图只能粗略显示。选择单个注意力头即可放大。",
  coarseStatistics: "这幅图只保留了统计量，因此只能粗略显示。连同权重重新记录即可放大。",
  nothing: "指向一个格子可查看其数值；单击或按回车选中。按住 Ctrl 滚动滚轮可缩放，拖动可移动。",
  exactly: "精确值",
  nearly: "近似值，精确值正在读取",
  drawn: "近似值，与图中一致",
  maskedCell: "被掩码遮住",
  pooled: (side: number, how: string, value: string) => `此处 ${side} × ${side} 的${how} ≈ ${value}`,
  said: (query: string, key: string, value: string) => `${query} 对 ${key} 的关注：${value}`,
  plot: (map: string) =>
    `${map}的热力图。方向键移动十字线，按住 Shift 移动地图；加号和减号缩放，0 显示全图；回车选中，Esc 取消。`,
  caption: (model: string, queries: number, keys: number) =>
    `${model}：${queries} 个查询（行）× ${keys} 个键（列）。`,
  part: (q0: number, q1: number, k0: number, k1: number) => `图中为查询 ${q0}–${q1}、键 ${k0}–${k1}。`,
  scaleCaption: (which: string, left: string) => `颜色：${which}，平方根标尺${left}。`,
  leftCaption: (what: string) => `，不计入${what}`,
  tableCaption: (map: string, signed: boolean) =>
    `${map}的${signed ? "带符号的值" : "注意力权重"}（选中位置附近）`,
};
