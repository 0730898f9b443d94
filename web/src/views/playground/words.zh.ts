/** Words of the playground; what belongs to a topic comes with it from the server. */

import type { SameWords } from "../../i18n/core";
import type * as en from "./words.en";

export const words: SameWords<typeof en.words> = {
  title: "试验场",
  about: "一组小页面：每页改一处、看一个效果，全部由本项目自己的代码实时计算。",
  topics: "主题",
  change: "动手",
  see: "观察",
  why: "为什么重要",
  none: "无：被掩码遮住或没有定义",
  figure: "图",
  keys: "用方向键在数值之间移动。",
  computing: "正在计算……",
  starting: "正在启动模型，第一次需要几秒钟。",
  train: "现在训练",
  trainAgain: "再训练一次",
  stop: "停止",
  training: (step: number, loss: string) => `第 ${step} 步，损失 ${loss}`,
  waiting: "正在排队……",
  stopped: (step: number) => `训练到第 ${step} 步后停止。`,
  trained: (step: number) => `训练完成：共 ${step} 步。`,
  tryAgain: "重试",
  waitsForModel: "有模型正在运行，运行结束后这里会自动计算。",
  computeAgain: "重新计算",
  computed: (model: string, seconds: string) => `由 ${model} 计算，用时 ${seconds} 秒。`,
  computedPlain: (seconds: string) => `由本项目自己的代码给出，用时 ${seconds} 秒。`,
  shipped: "由本项目自己的代码预先算好。",
  shippedWith: (model: string) => `由 ${model} 预先算好。`,
  noServer: "此页面没有模型可用（它是保存的文件或笔记本），因此无法计算。",
  noServerHint: "在终端运行“glassformer”打开 Glassformer 即可试验。",
  onlyDefaults:
    "此页面没有模型可用，只有各主题的初始设置。要调整它们，请在终端运行“glassformer”打开 Glassformer。",
  measured: "这里的数值要由后台的机器当场测量；此页面没有后台。",
  tableColumns: "图|对象|位置|数值",
};
