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
from glassformer.metrics.scores import Rows
from glassformer.recording import THRESHOLD, AttentionMap

Threshold = Annotated[float, About("metrics.parameters.threshold", least=0.0)]
Relative = Annotated[bool, About("metrics.parameters.relative")]


@head_metric("overall_sparsity", unit="non-zero : zero", range=(0.0, None), reads_tokens=False)
def compare_nonzero(
    attention_map: AttentionMap, *, threshold: Threshold = THRESHOLD, relative: Relative = False
) -> Rows:
    """How many weights are not zero for each weight that is zero (non-zero : zero).

    Σ z / Σ (n − z), where z is the number of weights of a row greater than τ among its n allowed keys.
    `totals` and `counts` hold both numbers, for "6 : 5". Undefined where no allowed weight is zero.
    """
    above = count_above(attention_map, threshold, relative)
    zeros = attention_map.statistics.allowed - above
    return Rows(above, zeros, "metrics.no_zero")


@head_metric("nonzero_share", unit="share", reads_tokens=False)
def share_nonzero(
    attention_map: AttentionMap, *, threshold: Threshold = THRESHOLD, relative: Relative = False
) -> Rows:
    """The share of allowed keys whose weight is not zero.

    Σ z / Σ n.
    """
    above = count_above(attention_map, threshold, relative)
    return Rows(above, attention_map.statistics.allowed)


@head_metric("average_nonzero", unit="keys", range=(0.0, None), reads_tokens=False)
def average_nonzero(
    attention_map: AttentionMap, *, threshold: Threshold = THRESHOLD, relative: Relative = False
) -> Rows:
    """The number of weights in a row that are not zero, averaged over rows.

    Σ z / rows.
    """
    above = count_above(attention_map, threshold, relative)
    return Rows(above, np.ones(above.shape))


@head_metric("maximum_nonzero", unit="keys", range=(0.0, None), rule="maximum", reads_tokens=False)
def maximum_nonzero(
    attention_map: AttentionMap, *, threshold: Threshold = THRESHOLD, relative: Relative = False
) -> Rows:
    """The largest number of weights in any row that are not zero.

    max z; also the maximum over heads and layers.
    """
    above = count_above(attention_map, threshold, relative)
    return Rows(above, np.ones(above.shape))


def count_above(attention_map: AttentionMap, threshold: float, relative: bool) -> NDArray[np.int64]:
    """Weights greater than the threshold (head, query): as recorded if it was the same, else counted now."""
    statistics = attention_map.statistics
    limits = np.full(statistics.allowed.shape, threshold)  # (head, query)
    if relative:
        limits /= np.maximum(statistics.allowed, 1)
    if (limits[statistics.looking] == statistics.threshold).all():
        return np.asarray(statistics.above, dtype=np.int64)
    # Weights are compared in their own precision, so that 1/n is not greater than 1/n.
    limits = limits.astype(np.float32)
    counts = np.zeros(limits.shape, dtype=np.int64)
    for rows, keys in row_blocks(attention_map):
        for head in range(attention_map.heads):
            weights = attention_map.weights(head, rows, keys)  # (query, key)
            counts[head, rows] = (weights > limits[head, rows, None]).sum(axis=1)
    return counts
