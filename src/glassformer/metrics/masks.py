"""Which keys the mask allows, found again from what a map kept.

In:   an attention map.
Out:  for one head, True where looking is allowed; checked against the recorded number of allowed keys.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.recording import AttentionMap


def find_allowed(attention_map: AttentionMap, head: int) -> NDArray[np.bool_]:
    """Allowed keys (query, key) of one head: the first explanation that fits all rows that look anywhere."""
    statistics = attention_map.statistics
    counts = statistics.allowed[head]
    looking = statistics.rows & (counts > 0)
    for allowed in _explain(attention_map, head):
        if (allowed.sum(axis=1)[looking] == counts[looking]).all():
            return allowed & (counts > 0)[:, None]
    raise InputError("metrics.unknown_mask", place=attention_map.place, head=head)


def _explain(attention_map: AttentionMap, head: int) -> Iterator[NDArray[np.bool_]]:
    """Masks that there could have been, the surest first."""
    _, queries, keys = attention_map.shape
    if attention_map.has_scores:
        yield attention_map.scores(head) > -np.inf
    positive = attention_map.weights(head) > 0
    yield positive
    yield np.ones((queries, keys), dtype=bool)
    # Weights so small that they became zero: the mask may still be causal, or hide whole keys.
    causal = np.tri(queries, keys, keys - queries, dtype=bool)
    seen = positive[attention_map.statistics.rows].any(axis=0)
    for allowed in (causal, causal & seen, np.broadcast_to(seen, (queries, keys))):
        if not (positive & ~allowed)[attention_map.statistics.rows].any():
            yield allowed
