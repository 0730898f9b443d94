/** 页面中训练的文字。 */

import type { SameWords } from "../../i18n/core";
import type * as en from "./words.en";

export const recipes: SameWords<typeof en.recipes> = {
  newRun: "新的训练",
  forkOf: (run: string) => `${run} 的分叉`,
  from: "起点",
  shipped: "配方",
  runs: "已有的训练",
  name: "训练的名称",
  nameHint: "字母、数字、- _ 和 . ：它将成为文件夹的名称。",
  step: "从哪一步的检查点开始",
  forkHint: "任务、分词器和模型不变；学习方式可以更改。",
  main: "最重要的设置",
  other: (table: string) => `[${table}] 的其他设置`,
  preview: "TOML 文件预览",
  size: (parameters: string, memory: string, disk: string) =>
    `最多约 ${parameters} 个参数，${memory} GB 内存，${disk} GB 磁盘。`,
  usual: (value: string) => `默认：${value}`,
  leftOut: "不设置",
  yes: "是",
  no: "否",
  list: "多项，用逗号分隔",
  add: "添加文件",
  removeOne: "移除此文件",
  noData: "服务器的数据文件夹是空的。",
  start: "开始训练",
  faults: (count: number) => `先要改正 ${count} 个设置。`,
  starting: "正在开始：读取数据……",
  state: "训练",
  stop: "停止",
  stopping: "正在停止：完成当前步并保存检查点……",
  resume: "继续",
  fork: (step: string) => `在第 ${step} 步分叉`,
  delete: "删除",
  really: (run: string) => `删除 ${run} 及其所有检查点？此操作无法撤销。`,
  keep: "保留",
  deleted: (run: string) => `已删除 ${run}。`,
  cancel: "取消",
};
