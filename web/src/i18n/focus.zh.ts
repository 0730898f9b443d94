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
  tokensOf: (first: string, last: string, count: string) => `第 ${first}–${last} 个词元，共 ${count} 个`,
  copied: "已复制。",
  notCopied: "此页面无法使用剪贴板，请改用保存。",
};
