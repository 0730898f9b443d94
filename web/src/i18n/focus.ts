/** Words for what is in focus: maps, heads, layers; shared by views that show numbers. */

import { defineStrings } from "./core";

export const words = defineStrings({
  en: {
    mapName: (stack: string, layer: number, cross: boolean) =>
      `${stack === "encoder" ? "Encoder" : stack === "decoder" ? "Decoder" : stack}, layer ${layer}, ${cross ? "cross-attention" : "self-attention"}`,
    familyName: (stack: string, cross: boolean) =>
      `${stack === "encoder" ? "Encoder" : stack === "decoder" ? "Decoder" : stack} ${cross ? "cross-attention" : "self-attention"}`,
    stackName: (stack: string) => (stack === "encoder" ? "Encoder" : stack === "decoder" ? "Decoder" : stack),
    step: (step: number) => `, step ${step}`,
    head: (head: number) => `head ${head}`,
    headOf: (map: string, head: number) => `${map}, head ${head}`,
    allHeads: "all heads",
    stack: "Stack",
    afterLayers: (layers: number) =>
      layers === 0 ? "embeddings" : layers === 1 ? "after 1 layer" : `after ${layers} layers`,
    tokensOf: (first: string, last: string, count: string) => `tokens ${first}–${last} of ${count}`,
    copied: "Copied.",
    notCopied: "The clipboard is not open to this page; use Save instead.",
  },
  zh: {
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
  },
});
