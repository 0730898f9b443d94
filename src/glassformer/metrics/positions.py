"""Position patterns: heads that look at a fixed place, whatever the text says.

In:   a self-attention map.
Out:  mean weight on the previous token, the next, the token itself, the first.

Rows that have such a place and a choice are averaged: a row that may look at one key only says nothing.
"""

import numpy as np

from glassformer.metrics.blocks import count_outcomes, find_real_keys, read_diagonal
from glassformer.metrics.metric import head_metric
from glassformer.metrics.scores import Rows, UndefinedError
from glassformer.recording import AttentionMap

_NO_ROW = "metrics.no_choice"


@head_metric("previous_token", unit="share", needs="weights", reads_tokens=False)
def look_back(attention_map: AttentionMap) -> Rows:
    """The weight on the token just before, averaged over rows.

    w(i, i − 1), averaged over rows that have such a key and a choice.
    """
    return _along(attention_map, -1)


@head_metric("next_token", unit="share", needs="weights", reads_tokens=False)
def look_ahead(attention_map: AttentionMap) -> Rows:
    """The weight on the token just after, averaged over rows; 0 where a causal mask hides it.

    w(i, i + 1), averaged likewise.
    """
    return _along(attention_map, 1)


@head_metric("self_token", unit="share", needs="weights", reads_tokens=False)
def look_at_self(attention_map: AttentionMap) -> Rows:
    """The weight on the token itself (the diagonal), averaged over rows.

    w(i, i), averaged likewise.
    """
    return _along(attention_map, 0)


@head_metric("first_token", unit="share", reads_tokens=False)
def look_at_first(attention_map: AttentionMap) -> Rows:
    """The weight on the first key, averaged over rows.

    w(i, 0), averaged over rows that have a choice; for cross-attention, too.
    """
    statistics = attention_map.statistics
    real = np.flatnonzero(find_real_keys(attention_map))
    if len(real) == 0:
        raise UndefinedError("metrics.no_key")
    first = real[0]  # padding may stand before it
    choosing = statistics.looking & (count_outcomes(attention_map) > 1)
    # Rows that can look at the first key only.
    forced = statistics.looking & ~choosing & (statistics.peak_key == first)
    without_choice = np.where(forced, statistics.peak, 0.0).sum(axis=1, dtype=np.float64)
    totals = np.maximum(statistics.mass[:, first] - without_choice, 0.0)
    return Rows(totals, choosing.sum(axis=1), _NO_ROW)


def _along(attention_map: AttentionMap, shift: int) -> Rows:
    """The weights of one diagonal, in rows that have a choice."""
    weights, inside = read_diagonal(attention_map, shift)
    counted = inside & (count_outcomes(attention_map) > 1)
    return Rows(np.where(counted, weights, 0.0), counted, _NO_ROW)
