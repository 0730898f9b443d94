/** Words for training runs that several views share. */

import type { SameWords } from "./core";
import type { words as en } from "./runs.en";

const STATES: Readonly<Record<string, string>> = {
  running: "运行中",
  killed: "被终止",
  finished: "已完成",
  stopped: "已停止",
  failed: "失败",
};

export const words: SameWords<typeof en> = {
  state: (name: string) => STATES[name] ?? name,
  step: "步",
  stepIs: (step: string) => `第 ${step} 步`,
  steps: (first: string, last: string) => (first === last ? `第 ${first} 步` : `第 ${first}–${last} 步`),
  alarms: "警报",
  noAlarms: "目前没有警报。",
  open: "仍未解除",
  passed: (step: string) => `第 ${step} 步时解除`,
  headsOf: (map: string, heads: string) => (heads === "" ? map : `${map}：${heads}`),
  openHeads: "查看这一步的这些头",
};
