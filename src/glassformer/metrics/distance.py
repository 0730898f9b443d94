"""Distance: how far a head looks.

In:   a self-attention map's statistics; its weights are never read.
Out:  mean attended distance in tokens.
"""

import numpy as np

from glassformer.metrics.blocks import find_offset, find_whole_heads
from glassformer.metrics.metric import head_metric
from glassformer.metrics.scores import Phrase, Rows, Wording
from glassformer.recording import AttentionMap


@head_metric(
    "distance",
    Wording(
        Phrase("Attention distance", "注意力距离"),
        "查询与其所关注的键之间的平均距离（以词元计）。",
        lower=Phrase("Lower means that the head looks nearby.", "越低的值代表该头关注邻近的词元。"),
        higher=Phrase("Higher means that the head looks far away.", "越高的值代表该头关注远处的词元。"),
    ),
    unit="tokens",
    range=(0.0, None),
)
def measure_distance(attention_map: AttentionMap) -> Rows:
    """How many tokens away a query looks, averaged by weight and over rows."""
    find_offset(attention_map)  # refuses maps whose axes share no positions
    distance = attention_map.statistics.distance
    attended = np.ones(distance.shape)  # the weight of a row that went to keys
    if attention_map.sink_weights is not None:
        attended = np.maximum(attended - attention_map.sink_weights, 0.0)
    known = find_whole_heads(attention_map)[:, None] & np.isfinite(distance)
    return Rows(
        np.where(known, distance, 0.0),
        np.where(known, attended, 0.0),
        "No row looks anywhere, its distance was not recorded, or its weights were edited after the softmax.",
    )
