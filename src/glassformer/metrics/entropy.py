"""Entropy: how evenly a row spreads its attention.

In:   an attention map's statistics; its weights are never read.
Out:  Shannon entropy, its share of the maximum, and the divergence from an even spread, in nats.

Where a map has an attention sink, the sink is one more place to look: n counts it, too.
"""

import numpy as np

from glassformer.metrics.blocks import count_outcomes, find_whole_heads
from glassformer.metrics.metric import head_metric
from glassformer.metrics.scores import Numbers, Rows, UndefinedError
from glassformer.recording import AttentionMap

_EDITED = "metrics.edited_rows"


@head_metric("entropy", unit="nats", range=(0.0, None), reads_tokens=False)
def measure_entropy(attention_map: AttentionMap) -> Rows:
    """The Shannon entropy of a row of weights, averaged over rows.

    H = −Σⱼ wⱼ log wⱼ, averaged over rows.
    """
    entropy, defined = _read(attention_map)
    return Rows(entropy * defined, defined, _explain(defined))


@head_metric("entropy_share", unit="share", reads_tokens=False)
def share_entropy(attention_map: AttentionMap) -> Rows:
    """Entropy as a share of what it would be if every row were spread evenly over its allowed keys.

    Σ H / Σ log n. Undefined where every row may look at one key only.
    """
    entropy, defined = _read(attention_map)
    most = np.log(np.maximum(count_outcomes(attention_map), 1))
    reasons = ("metrics.one_key_only",) if defined.all() else ("metrics.one_key_only", _EDITED)
    return Rows(np.minimum(entropy, most) * defined, most * defined, reasons)


@head_metric("uniform_divergence", unit="nats", range=(0.0, None), reads_tokens=False)
def measure_divergence(attention_map: AttentionMap) -> Rows:
    """The Kullback-Leibler divergence of a row from an even spread over allowed keys, averaged over rows.

    KL = log n − H, averaged over rows.
    """
    entropy, defined = _read(attention_map)
    most = np.log(np.maximum(count_outcomes(attention_map), 1))
    return Rows(np.maximum(most - entropy, 0.0) * defined, defined, _explain(defined))


def _read(attention_map: AttentionMap) -> tuple[Numbers, Numbers]:
    """Entropy (head, query), never below zero by rounding; 1 where it means something, else 0."""
    statistics = attention_map.statistics
    entropy = np.where(statistics.looking, np.maximum(statistics.entropy, 0.0), 0.0).astype(np.float64)
    whole = find_whole_heads(attention_map)[:, None]
    if not whole.any():
        raise UndefinedError(_EDITED)
    return entropy, np.broadcast_to(whole, entropy.shape).astype(np.float64)


def _explain(defined: Numbers) -> str:
    return "metrics.no_row" if defined.all() else _EDITED
