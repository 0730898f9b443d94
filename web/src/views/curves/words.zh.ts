/** Words of the curves view. */

import type { SameWords } from "../../i18n/core";
import type { words as en } from "./words.en";

const CHARTS: Readonly<Record<string, string>> = {
  loss: "损失",
  norm: "梯度范数",
  rate: "学习率",
  throughput: "每秒词元数",
  memory: "内存（MB）",
  accuracy: "准确率",
  perplexity: "困惑度",
  bleu: "BLEU",
};
const STATES: Readonly<Record<string, string>> = {
  running: "进行中",
  killed: "被终止",
  finished: "已完成",
  stopped: "已停止",
  failed: "失败",
};
const SPLITS: Readonly<Record<string, string>> = { train: "训练集", dev: "验证集", test: "测试集" };

export const words: SameWords<typeof en> = {
  title: "训练曲线",
  about: "一次或多次训练运行的损失、分数、学习率和梯度范数随步数的变化，以及警报。",
  smoothing: "平滑",
  smoothed: (kept: string) => (kept === "0" ? "关" : kept),
  logY: "数值取对数",
  logX: "步数取对数",
  step: "步",
  stepIs: (step: string) => `第 ${step} 步`,
  chart: (name: string) => CHARTS[name] ?? name,
  split: (name: string) => SPLITS[name] ?? name,
  state: (name: string) => STATES[name] ?? name,
  run: (state: string, step: string) => `${state}，第 ${step} 步`,
  charts: "曲线。方向键移动所选步数；加号和减号缩放；0 显示全部步数。",
  events: "警报与事件",
  alarm: "警报",
  openHeads: "查看这一注意力图的各个头",
  noAlarms: "目前没有警报。",
  recipe: "训练配方",
  environment: "机器与版本",
  differences: "不同的设置",
  setting: "设置",
  thinned: "日志中的点多于绘出的点：每一段步数绘出其中的最小值和最大值。",
  damaged: (lines: string) => `日志中有 ${lines} 行无法读取，已略去。`,
  noCurves: "日志中还没有内容。页面会跟踪这次运行，一有数字就显示。",
  none: "–",
};
