/** Words of what is fetched later: the glossary, the details of a guessed word. */

import type { SameWords } from "../../i18n/core";
import type * as en from "./later_words.en";

const terms: readonly en.Term[] = [
  ["消融（ablation）", "关掉网络的一部分，看它原来有什么用。"],
  ["激活值（activation）", "网络计算途中的一个数，例如隐藏状态的一个分量。"],
  [
    "注意力权重（attention weight）",
    "一个词元从另一个词元的值中取多少：在 0 与 1 之间；同一个查询的权重之和为 1。",
  ],
  ["自回归（autoregressive）", "逐个写出词元，每个都以之前的全部词元为输入。"],
  ["束搜索（beam search）", "同时保留若干个开头，选择整体最可能的一个。"],
  ["字节对编码（BPE）", "一种切分文本的方法：常见的相邻片段合并为新的片段，罕见的词因此被拆成几个词元。"],
  ["因果掩码（causal mask）", "词元只能看自己和之前的词元这一规则。"],
  ["类别（class）", "分类器能给出的答案之一，例如正面或负面。"],
  ["[CLS]", "放在文本最前面的词元，分类器读取它最后一层的向量。"],
  ["交叉注意力（cross-attention）", "解码器对编码器所读词元的注意力。"],
  ["解码器（decoder）", "负责写的一叠层：词元只向前看；在翻译模型中还看源文本。"],
  ["嵌入（embedding）", "代表一个词元的向量；在第一层之前只取决于词元本身。"],
  ["编码器（encoder）", "负责读的一叠层：每个词元都可以看其他所有词元。"],
  ["熵（entropy）", "一个查询的权重有多分散：全部落在一个词元上时为 0，平均分配时最大。"],
  ["前馈网络（feed-forward network）", "层中单独改变每个词元、不看其他词元的部分。"],
  ["贪心解码（greedy decoding）", "每次都写最可能的下一个词元。"],
  ["头（head）", "一层中并行计算的多个注意力之一，各有自己的查询、键和值。"],
  ["隐藏状态（hidden state）", "词元在两层之间的向量。"],
  ["键（key）", "词元供查询比较的向量。"],
  ["层（layer）", "一轮注意力加前馈网络；模型由若干层叠成。"],
  ["层归一化（layer normalisation）", "先把每个向量变成均值 0、标准差 1，再用学到的数缩放和平移。"],
  ["对数几率（logit）", "某个输出在 softmax 变成概率之前的分数。"],
  ["掩码（mask）", "让权重保持为 0 的规则：查询不可看的位置。[MASK] 是另一回事：要 BERT 猜的被遮盖的词。"],
  ["填充（padding）", "没有意义的词元，把短文本补齐，使几个文本能放进同一批。"],
  ["困惑度（perplexity）", "语言模型平均在多少个词元之间犹豫：平均损失的指数。越低越好。"],
  ["位置（position）", "词元所在之处；没有它，Transformer 分不清词序。"],
  ["查询（query）", "词元用来提问的向量：它与各个键的乘积决定看向哪里。"],
  ["记录（recording）", "一段文本通过一个模型时保留下来的内容；所有视图都显示它。"],
  ["残差流（residual stream）", "词元贯穿各层的向量：每层都往上加，没有一层替换它。"],
  ["注意力展开（rollout）", "把各层权重相乘：估计每个输入词元有多少到达某个位置。"],
  ["采样（sampling）", "按概率随机抽取下一个词元。"],
  ["分数（score）", "查询与键的乘积乘以一个系数（多为 1/√d），尚未经过掩码和 softmax。"],
  ["自注意力（self-attention）", "同一文本内词元之间的注意力。"],
  ["softmax（归一化指数函数）", "把任意一组数变成和为 1 的正数，最大的得到最多。"],
  ["稀疏度（sparsity）", "注意力矩阵中有多少（几乎）为零。"],
  ["温度（temperature）", "softmax 之前分数要除以它：小于 1 时最可能的更突出，大于 1 时彼此更接近。"],
  ["词元（token）", "模型当作一个单位来读的一段文本：一个词、词的一部分、一个字或一个符号。"],
  ["值（value）", "词元供其他词元按注意力权重取用的向量。"],
  ["词表（vocabulary）", "模型认识的全部词元。"],
];

export const later: SameWords<typeof en.later> = {
  glossary: "术语表",
  search: "在术语表中查找",
  nothing: "没有这个术语。",
  terms,
  embeddingOf: (width: number, length: string) =>
    `据以猜测的向量（最后一层之后）：${width} 个数，长度 ${length}。`,
  noEmbedding: "没有保留隐藏状态，因此没有可显示的向量。",
  openEmbeddings: "在嵌入视图中显示",
  headsWith: (heads: string, scale: string) => `${heads} 个头：× ${scale}`,
};
