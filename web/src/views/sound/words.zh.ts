/** Words of the sound view. */

import type { SameWords } from "../../i18n/core";
import type * as en from "./words.en";

export const words: SameWords<typeof en.words> = {
  title: "声音",
  about: "随时间变化的注意力：每个词在听声音的哪一刻，画在波形和声谱图之下。",
  noSound: "此记录不是由声音得到的。",
  play: "播放",
  pause: "暂停",
  playHint: "播放或停止声音（空格键）",
  cannotPlay: (rate) => `此浏览器无法播放这段声音（每秒 ${rate} 个采样）。`,
  silent: "这里没有可用的扬声器：光标无声移动。",
  time: (now, all) => `${now} / ${all} 秒`,
  show: "显示",
  out: "它听什么",
  in: "谁听它",
  received: "总体听什么",
  receivedHint: "每一刻从所有词元那里得到的注意力总和。",
  onlyReceived:
    "这张注意力图只有统计量，没有权重：只能显示每一刻总共得到的注意力。若要看更多，请在记录时把 weights（或 queries 与 keys）加入 `want`。",
  notThisMap: "这张注意力图的两侧都不是由声音切成的。",
  goTo: (map) => `显示${map}`,
  chart: (seconds) =>
    `长 ${seconds} 秒的声音。左右方向键在时间中移动，上下方向键选择词，空格键播放，Esc 键取消选择。`,
  tokens: "词：谁在听",
  others: "不属于任何时刻的词元",
  spoken: "说出",
  heard: "听到",
  wave: "波形",
  spectrum: (kilohertz) => `至 ${kilohertz} 千赫`,
  attention: "注意力",
  head: (number) => `注意力头 ${number}`,
  mean: "本层各头的平均",
  model: "所有层的平均",
  moment: (name) => `${name} 秒`,
  looksAt: (token) => `${token} 听：`,
  seenBy: (token) => `听 ${token} 的有：`,
  receivedBest: "得到注意力最多的是：",
  signedOf: (token) => `${token} 的数值：`,
  nothing: "无",
  value: (token, weight) => `${token}：${weight}。`,
  inside: (count, all) =>
    `${all} 个词中有 ${count} 个，注意力最强的时刻落在其真实边界之内，或相距不超过 80 毫秒。`,
  columnFrom: "起（秒）",
  columnTo: "止（秒）",
  columnWeight: "权重",
  columnMass: "得到的注意力",
  columnValue: "数值",
};
