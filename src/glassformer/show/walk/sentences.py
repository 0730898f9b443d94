"""Why a step has nothing to show, in both languages.

In:   nothing.
Out:  phrases.
"""

from glassformer.show.workbench import Phrase

NO_TRACE = Phrase(
    en="This recording did not keep this step. Run the model again with its trace to see it.",
    zh="这份记录没有保存这一步。请带上计算过程（trace）重新运行模型，就能看到。",
)
NO_WINDOWS = Phrase(
    en="This model comes from transformers, and its recording holds what attention was given and gave; "
    "this step happens outside of it.",
    zh="这个模型来自 transformers，记录里只有注意力的输入和输出；这一步发生在注意力之外。",
)
RECURRENT = Phrase(
    en="The cells of a recurrent network run one word after the other inside torch and show only their "
    "states, so this step cannot be followed number by number.",
    zh="循环网络的单元在 torch 内部逐词运行，只露出状态，所以这一步无法逐个数字地跟踪。",
)
NO_PARAMETERS = Phrase(
    en="The recording did not keep the model's parameters: values can be seen, but not how they came about. "
    "Run the model again with its parameters.",
    zh="记录里没有保存模型参数：可以看到数值，但看不到它们是怎么算出来的。请带上参数重新运行。",
)
EDITED = Phrase(
    en="The model was changed for this recording; weights may differ from what the scores say.",
    zh="这次记录改动过模型；权重可能与分数推出的不同。",
)
