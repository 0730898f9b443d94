"""Sparsity: how many weights of a row are not zero.

In:   an attention map, and what counts as zero.
Out:  four of the numbers in the interpretability panel, counted over the keys that the mask allows.

"Non-zero" means greater than a threshold: 0.01, or by choice a multiple of 1/n in a row of n allowed keys,
since a row spread evenly over a hundred keys is not empty.
"""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from glassformer.metrics.blocks import row_blocks
from glassformer.metrics.metric import head_metric
from glassformer.metrics.parameters import About
from glassformer.metrics.scores import Phrase, Rows, Wording
from glassformer.recording import THRESHOLD, AttentionMap

Threshold = Annotated[
    float, About("a weight greater than this is non-zero", "大于此值的权重算作非零", least=0.0)
]
Relative = Annotated[
    bool,
    About(
        "whether the threshold is a multiple of 1/n, for n allowed keys in a row",
        "阈值是否按 1/n 的倍数计（n 为该行允许的键数）",
    ),
]

_NO_ROW = "No row looks anywhere."


@head_metric(
    "overall_sparsity",
    Wording(
        Phrase("Overall Sparsity", "整体稀疏度"),
        "非零权重与零权重个数之比。",
        lower=Phrase("Lower means sparser.", "越低的值代表越稀疏。"),
        higher=Phrase("Higher means denser.", "越高的值代表越稠密。"),
    ),
    unit="non-zero : zero",
    range=(0.0, None),
)
def compare_nonzero(
    attention_map: AttentionMap, *, threshold: Threshold = THRESHOLD, relative: Relative = False
) -> Rows:
    """How many weights are not zero for each one that is."""
    above = count_above(attention_map, threshold, relative)
    zeros = attention_map.statistics.allowed - above
    return Rows(above, zeros, "No allowed weight is zero, so there is nothing to divide by.")


@head_metric(
    "nonzero_share",
    Wording(
        Phrase("Overall Sparsity, share", "整体稀疏度（占比）"),
        "非零权重占允许关注的键的比例。",
        lower=Phrase("Lower means sparser.", "越低的值代表越稀疏。"),
        higher=Phrase("Higher means denser.", "越高的值代表越稠密。"),
    ),
    unit="share",
)
def share_nonzero(
    attention_map: AttentionMap, *, threshold: Threshold = THRESHOLD, relative: Relative = False
) -> Rows:
    """The share of allowed keys whose weight is not zero."""
    above = count_above(attention_map, threshold, relative)
    return Rows(above, attention_map.statistics.allowed, _NO_ROW)


@head_metric(
    "average_nonzero",
    Wording(
        Phrase("Avg. Token Sparsity", "平均词元稀疏度"),
        "每行非零权重个数的平均值。",
        lower=Phrase(
            "Lower means that attention is more concentrated in the average row.",
            "越低的值代表平均每个词的注意力集中度越高。",
        ),
        higher=Phrase(
            "Higher means that the average row looks at more keys.", "越高的值代表平均每个词关注的键越多。"
        ),
    ),
    unit="keys",
    range=(0.0, None),
)
def average_nonzero(
    attention_map: AttentionMap, *, threshold: Threshold = THRESHOLD, relative: Relative = False
) -> Rows:
    """The number of weights in a row that are not zero, averaged over rows."""
    above = count_above(attention_map, threshold, relative)
    return Rows(above, np.ones(above.shape), _NO_ROW)


@head_metric(
    "maximum_nonzero",
    Wording(
        Phrase("Max Token Sparsity", "最大词元稀疏度"),
        "任意一行中非零权重个数的最大值。",
        lower=Phrase(
            "Lower means that attention is more concentrated in every row.",
            "越低的值代表每个词的注意力集中度越高。",
        ),
        higher=Phrase(
            "Higher means that at least one row looks widely.", "越高的值代表至少有一个词的注意力很分散。"
        ),
    ),
    unit="keys",
    range=(0.0, None),
    rule="maximum",
)
def maximum_nonzero(
    attention_map: AttentionMap, *, threshold: Threshold = THRESHOLD, relative: Relative = False
) -> Rows:
    """The largest number of weights in any row that are not zero."""
    above = count_above(attention_map, threshold, relative)
    return Rows(above, np.ones(above.shape), _NO_ROW)


def count_above(attention_map: AttentionMap, threshold: float, relative: bool) -> NDArray[np.int64]:
    """Weights greater than the threshold (head, query): as recorded if it was the same, else counted now."""
    statistics = attention_map.statistics
    limits = np.full(statistics.allowed.shape, threshold)  # (head, query)
    if relative:
        limits /= np.maximum(statistics.allowed, 1)
    looking = statistics.rows & (statistics.allowed > 0)
    if (limits[looking] == statistics.threshold).all():
        return np.asarray(statistics.above, dtype=np.int64)
    # Weights are compared in their own precision, so that 1/n is not greater than 1/n.
    limits = limits.astype(np.float32)
    counts = np.zeros(limits.shape, dtype=np.int64)
    for rows, keys in row_blocks(attention_map):
        for head in range(attention_map.heads):
            weights = attention_map.weights(head, rows, keys)  # (query, key)
            counts[head, rows] = (weights > limits[head, rows, None]).sum(axis=1)
    return counts
