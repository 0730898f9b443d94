/** Words of the patching view. */

import type { SameWords } from "../../i18n/core";
import type * as en from "./words.en";

export const words: SameWords<typeof en.words> = {
  title: "修补",
  about: "哪些向量承载答案：把一个句子的向量放入另一个句子。",
  clean: "原始文本",
  corrupted: "改动后的文本",
  answer: "答案",
  other: "另一答案",
  label: "类别",
  typed: "一个词元；多数以空格开头。",
  position: "位置",
  part: "替换",
  residual: "残差流",
  feed_forward: "前馈网络的输出",
  heads: "头",
  measure: "测量",
  stop: "停止",
  example: "使用此示例",
  exampleHint: "例如（两个文本和两个答案）：",
  intro:
    "给出原始文本、词元数相同的改动文本和两个答案。模型读改动后的文本；每次把一处的向量换成原始文本的向量。能恢复原答案的向量就承载着答案。",
  missing: "请填写两段文本和两个答案。",
  missingClass: "请填写两段文本和类别。",
  running: "模型正在运行……",
  progress: (done, all) => `第 ${done} 层，共 ${all} 层……`,
  baselines: (outcome, clean, corrupted) =>
    `结果：${outcome}。原始文本为 ${clean}，改动后的文本为 ${corrupted}。`,
  equal: "两段文本相同，没有可恢复的内容。请改动其中一个词。",
  same: "两段文本的结果相同，没有可恢复的内容。请换文本或答案。",
  noText: "修补是把一段文本的向量放进另一段文本。要看图块或某一时刻的作用，请在“图片”和“声音”中把它去掉。",
  noModel: "修补需要模型，而此页面背后没有模型。请用 `glassformer serve` 启动。",
  noRequest: "不知道这份记录是如何生成的，因此无法再次运行其模型。请在“输入”中运行这段文本。",
  legend: "恢复的答案份额",
  legendHint: "（修补后 − 改动）/（原始 − 改动）：0 是改动文本的结果，1 是原始文本的结果。",
  map: "层 × 词元：恢复的答案份额",
  mapOfHeads: "层 × 头：恢复的答案份额",
  layer: (layer) => `第 ${layer} 层`,
  head: (head) => `头 ${head}`,
  changed: (clean, corrupted) => `${clean} / ${corrupted}`,
  cell: (layer, what, share, value) => `第 ${layer} 层，${what}：恢复 ${share}（结果 ${value}）`,
  columns: {
    layer: "层",
    token: "词元",
    head: "头",
    clean: "原始",
    corrupted: "改动",
    value: "结果",
    share: "恢复",
  },
};
