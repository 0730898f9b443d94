"""Distance: how far a head looks.

In:   a self-attention map's statistics; its weights are never read.
Out:  mean attended distance in tokens.
"""

import numpy as np

from glassformer.metrics.blocks import find_offset, find_whole_heads
from glassformer.metrics.metric import head_metric
from glassformer.metrics.scores import Rows
from glassformer.recording import AttentionMap


@head_metric("distance", unit="tokens", range=(0.0, None), reads_tokens=False)
def measure_distance(attention_map: AttentionMap) -> Rows:
    """How many tokens away a query looks, averaged by weight and over rows.

    Σ wⱼ |i − j| / Σ wⱼ over keys and rows. Undefined for cross-attention.
    """
    find_offset(attention_map)  # refuses maps whose axes share no positions
    distance = attention_map.statistics.distance
    attended = np.ones(distance.shape)  # the weight of a row that went to keys
    if attention_map.sink_weights is not None:
        attended = np.maximum(attended - attention_map.sink_weights, 0.0)
    known = find_whole_heads(attention_map)[:, None] & np.isfinite(distance)
    return Rows(np.where(known, distance, 0.0), np.where(known, attended, 0.0), "metrics.no_distance")
