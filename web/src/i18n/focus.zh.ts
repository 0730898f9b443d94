/** Words for what is in focus: maps, heads, layers; shared by views that show numbers. */

import type { SameWords } from "./core";
import type * as en from "./focus.en";

export const words: SameWords<typeof en.words> = {
  mapName: (stack: string, layer: number, cross: boolean) =>
    `${stack === "encoder" ? "编码器" : stack === "decoder" ? "解码器" : stack}第 ${layer} 层${cross ? "交叉注意力" : "自注意力"}`,
  familyName: (stack: string, cross: boolean) =>
    `${stack === "encoder" ? "编码器" : stack === "decoder" ? "解码器" : stack}${cross ? "交叉注意力" : "自注意力"}`,
  stackName: (stack: string) => (stack === "encoder" ? "编码器" : stack === "decoder" ? "解码器" : stack),
  step: (step: number) => `，第 ${step} 步`,
  head: (head: number) => `第 ${head} 头`,
  headOf: (map: string, head: number) => `${map}第 ${head} 头`,
  allHeads: "全部注意力头",
  stack: "网络部分",
  afterLayers: (layers: number) => (layers === 0 ? "词嵌入" : `经过 ${layers} 层`),
  states: "隐藏状态",
  tokensOf: (first: string, last: string, count: string) => `第 ${first}–${last} 个词元，共 ${count} 个`,
  betweenSentences: "",
  copied: "已复制。",
  notCopied: "此页面无法使用剪贴板，请改用保存。",
  noMaps: "这份记录没有注意力图。请在记录时把 weights 加入 `want`。",
  withoutAttention: "“逐步演示”展示它实际计算的每一步，“生成”展示它写出的词。",
  signed: "这份记录含有带符号的值（差值、归因），而这个视图需要注意力权重。请打开热力图、连线、文本或总览。",
  noHidden:
    "这份记录没有隐藏状态。请重新记录并保留隐藏状态：want=('weights', 'output', 'hidden')，在终端里是 --want weights,output,hidden。",
  position: "位置",
  token: "词元",
  stackColumn: "网络部分",
  kindColumn: "注意力类型",
  layerColumn: "层",
  headColumn: "头",
  source: "源文",
  target: "译文",
  part: "另一部分",
  picture: "图片",
  sound: "声音",
  caption: "图片描述",
  transcript: "转写",
  beingWritten: (side: string) => `${side}，正在写出`,
  families: (family: string) =>
    (
      ({
        sparsity: "稀疏度",
        entropy: "熵",
        distance: "距离",
        positions: "位置",
        repeats: "重复",
        similarity: "头的相似度",
        sinks: "注意力汇聚",
        alignment: "词对齐",
        words: "词",
        linkage: "联系",
        dependencies: "依存关系",
      }) as Readonly<Record<string, string>>
    )[family] ?? family,
};
