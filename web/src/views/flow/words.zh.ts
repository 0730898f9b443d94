/** Words of the flow view. */

import type { SameWords } from "../../i18n/core";
import type * as en from "./words.en";

export const words: SameWords<typeof en.words> = {
  title: "信息流",
  about: "注意力展开（rollout）：顶层某个词元的信息是如何一层层从输入汇集而来的。",
  input: "输入",
  layer: (layer: number) => String(layer),
  afterLayer: (layer: number) => `第 ${layer} 层之后`,
  atInput: "输入处",
  inputs: "输入词元",
  tops: "最后一层之后的词元",
  idle: (token: string, index: number) => `顶层的 ${token}（${index}）来自输入中的：`,
  share: (token: string, index: number, where: string, share: string) =>
    `${token}（${index}）${where}：${share}`,
  through: (token: string, index: number, share: string) =>
    `${share} 来自输入的 ${token}（${index}），即每条带中颜色较醒目的部分。`,
  note: (share: string, least: string) => `残差连接占 0.5。小于 ${least} 的带未画出（每层最多 ${share}）。`,
  loading: "正在载入各层……",
  noMaps:
    "这份记录没有完整的自注意力图。循环网络本来就没有；若是其他网络，请记录整段文本，并把 weights 加入 `want`。",
  noWeights: "这份记录中有的自注意力图没有权重。请在记录时把 weights 加入 `want`。",
  gaps: "没有记录全部的层，因此无法一直追溯到输入。请记录所有层。",
  tooLong: (count: string, most: string) =>
    `文本有 ${count} 个词元；展开要做整个矩阵的乘法，最多画 ${most} 个。请只记录文本的一部分。`,
  caption: (token: string, index: number) =>
    `${token}（${index}）的注意力展开：带的宽度表示经由此处的信息份额。`,
  columnPlane: (layer: number) => `第 ${layer} 层之后`,
  columnInput: "输入",
};
