"""Why a step has nothing to show, in both languages.

In:   nothing.
Out:  phrases.
"""

from glassformer.recording import LONGEST_TRACE
from glassformer.schema import Phrase

NO_TRACE = Phrase(
    en="This recording did not keep this step. Run the model again with its trace to see it.",
    zh="这份记录没有保存这一步。请带上计算过程（trace）重新运行模型，就能看到。",
)
TOO_LONG = Phrase(
    en=f"This recording did not keep this step: only texts of up to {LONGEST_TRACE} tokens are followed step "
    "by step. Shorten the text to see it.",
    zh=f"这份记录没有保存这一步：只有不超过 {LONGEST_TRACE} 个词元的文本才会逐步记录。缩短文本就能看到。",
)
OUTSIDE = Phrase(
    en="This step happens outside of attention, where a model of transformers is not watched.",
    zh="这一步发生在注意力之外；transformers 模型在那里没有被记录。",
)
NO_WINDOWS = Phrase(
    en="This model comes from transformers, and its recording holds what attention was given and gave, and "
    "the states between layers. What happens in between is not shown: embeddings and positions, the "
    "projections to queries, keys, values and output, residual connections, norms, the feed-forward part, "
    "the scores of words.",
    zh="这个模型来自 transformers，记录里有注意力的输入和输出，以及各层之间的状态。其间的步骤没有显示："
    "嵌入与位置、查询/键/值和输出的投影、残差连接、归一化、前馈部分、各个词的得分。",
)
NOT_KEPT = Phrase(
    en="This recording did not keep this step. Record again with queries, keys, values, scores and hidden "
    "states to see it.",
    zh="这份记录没有保存这一步。请在记录时保留查询、键、值、得分和隐藏状态，就能看到。",
)
NO_PARAMETERS = Phrase(
    en="The recording did not keep the model's parameters: of steps that use them, values can be seen, but "
    "not how they came about. Run the model again with its parameters.",
    zh="记录里没有保存模型参数：用到参数的步骤只能看到数值，看不到它们是怎么算出来的。请带上参数重新运行。",
)
EDITED = Phrase(
    en="The model was changed for this recording; weights may differ from what the scores say.",
    zh="这次记录改动过模型；权重可能与分数推出的不同。",
)
