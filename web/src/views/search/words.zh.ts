/** 搜索视图的文字。 */

import type * as en from "./words.en";

const STATES: Readonly<Record<string, string>> = {
  running: "运行中",
  complete: "完成",
  pruned: "已剪枝",
  infeasible: "不可行",
  failed: "失败",
  finished: "已完成",
  stopped: "已停止",
};

export const words: typeof en.words = {
  title: "搜索",
  about: "寻找最佳配置的搜索：所有试验、哪些设置重要，以及最佳配置及其依据。",
  choose: "搜索",
  example: (id) => `${id}（示例）`,
  state: (name) => STATES[name] ?? name,
  head: (state, trained, wanted, minutes) =>
    `${state}：已训练 ${trained} / ${wanted} 种配置，用时 ${minutes} 分钟。`,
  best: "最佳注意力配置",
  bestOf: (trial, name, value) => `试验 ${trial}，${name} ${value}`,
  setting: "设置",
  bestValue: "最佳",
  ownValue: "配方",
  evidence: "依据",
  confirmed: (seeds) => `两者各用 ${seeds} 个新种子重新训练（95 % 区间）：`,
  oneSeed: "每种配置只训练了一次：小的差异可能出于偶然。",
  measure: "度量",
  difference: "差异",
  interval: (mean, half) => `${mean} ± ${half}`,
  openRun: "打开其运行",
  openOwn: "打开配方自身的运行",
  showRecipe: "其配方",
  runsElsewhere: "这是示例：其运行不在本机上。",
  history: "按顺序的试验，以及当前最佳",
  front: (first, second) => `${first} 与 ${second}：没有试验在两方面都优于线上的试验`,
  importance: (name) => `对 ${name} 重要的设置`,
  importanceNote: "最佳试验与其他试验之差异中所占的份额（PED-ANOVA）。",
  parallel: "所有试验的所有设置",
  parallelHelp:
    "每条线是一次试验；最后一条轴上越靠上越好。沿轴拖动，只保留经过该处的试验。轴上的按键：上下移动所选范围，Esc 取消。",
  axis: (name, from, to) => `${name}，从 ${from} 到 ${to}`,
  kept: (kept, all) => `${all} 次试验中的 ${kept} 次`,
  clear: "全部保留",
  trials: "试验",
  trial: "试验",
  stateColumn: "状态",
  reason: "原因",
  own: "配方",
  open: (run) => `打开运行 ${run}`,
  none: "还没有搜索。请在启动该服务器的文件夹中，从终端开始一次：",
  notHere: "搜索由服务器显示：请启动 `glassformer serve`。",
  noValue: "–",
  tested: (split, name) => `${split} 上的 ${name}`,
};
