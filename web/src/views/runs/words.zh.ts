/** Words of the list of training runs. */

import type { SameWords } from "../../i18n/core";
import type { words as en } from "./words.en";

const COLUMNS: Readonly<Record<string, string>> = {
  name: "运行",
  state: "状态",
  loss: "损失",
  score: "最佳分数",
  steps: "步数",
  started: "开始时间",
  time: "用时",
  alarms: "警报",
};

export const words: SameWords<typeof en> = {
  title: "训练运行",
  about: "这台服务器上的所有训练运行：各自的状态、损失、最佳分数和警报。",
  column: (name: string) => COLUMNS[name] ?? name,
  search: "搜索运行",
  states: "状态",
  anyState: "全部",
  found: (shown: string, all: string) => (shown === all ? `${all} 次运行` : `${all} 次运行中的 ${shown} 次`),
  choose: (run: string) => `选择 ${run}`,
  overlay: (runs: string) => (runs === "1" ? "打开所选运行" : `叠加 ${runs} 次运行`),
  clear: "取消选择",
  example: (run: string) => `${run}（示例）`,
  more: (runs: string) => `再显示 ${runs} 次`,
  score: (name: string, value: string) => `${name} ${value}`,
  sparkline: (run: string, last: string) => `${run} 的损失，最后为 ${last}`,
  indexing: (share: string) => `正在读取日志：${share}`,
  none: "还没有训练运行。请在启动本服务器的文件夹中，用终端启动一次：",
  notHere: "训练运行由服务器显示：请启动 `glassformer serve`。",
  nothingFound: "没有叫这个名字的运行。",
  seconds: (seconds: string) => `${seconds} 秒`,
  minutes: (minutes: string) => `${minutes} 分钟`,
  hours: (hours: string, minutes: string) => `${hours} 小时 ${minutes} 分钟`,
  days: (days: string, hours: string) => `${days} 天 ${hours} 小时`,
  noValue: "–",
};
