"""Entropy: how evenly a row spreads its attention.

In:   an attention map's statistics; its weights are never read.
Out:  Shannon entropy, its share of the maximum, and the divergence from an even spread, in nats.

Where a map has an attention sink, the sink is one more place to look: n counts it, too.
"""

import numpy as np

from glassformer.metrics.blocks import count_outcomes, find_whole_heads
from glassformer.metrics.metric import head_metric
from glassformer.metrics.scores import Numbers, Phrase, Rows, UndefinedError, Wording
from glassformer.recording import AttentionMap

_NO_ROW = "No row looks anywhere."
_EDITED = "An edit after the softmax left rows that do not sum to one."


@head_metric(
    "entropy",
    Wording(
        Phrase("Entropy", "熵"),
        "每行注意力权重的香农熵，对各行取平均。",
        lower=Phrase("Lower means more focused.", "越低的值代表注意力越集中。"),
        higher=Phrase("Higher means more random.", "越高的值代表随机性越强。"),
    ),
    unit="nats",
    range=(0.0, None),
)
def measure_entropy(attention_map: AttentionMap) -> Rows:
    """The Shannon entropy of a row of weights, averaged over rows."""
    entropy, defined = _read(attention_map)
    return Rows(entropy * defined, defined, _explain(defined))


@head_metric(
    "entropy_share",
    Wording(
        Phrase("Entropy, share of its maximum", "熵（占最大值的比例）"),
        "熵占其最大值（均匀分布的熵）的比例。",
        lower=Phrase("Lower means more focused.", "越低的值代表注意力越集中。"),
        higher=Phrase(
            "Higher means more random; 1 is an even spread.", "越高的值代表随机性越强；1 表示完全均匀。"
        ),
    ),
    unit="share",
)
def share_entropy(attention_map: AttentionMap) -> Rows:
    """Entropy as a share of what it would be if every row were spread evenly over its allowed keys."""
    entropy, defined = _read(attention_map)
    most = np.log(np.maximum(count_outcomes(attention_map), 1))
    reason = "Every row may look at one key only, so the largest entropy is zero."
    return Rows(
        np.minimum(entropy, most) * defined,
        most * defined,
        reason if defined.all() else f"{reason} {_EDITED}",
    )


@head_metric(
    "uniform_divergence",
    Wording(
        Phrase("KL Divergence with Softmax(QK^T)", "注意力权重与均匀分布的 KL 散度"),
        "每行注意力权重相对于均匀分布的 KL 散度，对各行取平均。",
        lower=Phrase("Lower means closer to an even spread.", "越低的值代表越接近均匀分布。"),
        higher=Phrase(
            "Too high means that attention is over-concentrated on some positions: training gets harder.",
            "如果值过高，说明模型对某些位置的注意力过度集中，导致训练难度增加。",
        ),
    ),
    unit="nats",
    range=(0.0, None),
)
def measure_divergence(attention_map: AttentionMap) -> Rows:
    """The Kullback-Leibler divergence of a row from an even spread over allowed keys, averaged over rows."""
    entropy, defined = _read(attention_map)
    most = np.log(np.maximum(count_outcomes(attention_map), 1))
    return Rows(np.maximum(most - entropy, 0.0) * defined, defined, _explain(defined))


def _read(attention_map: AttentionMap) -> tuple[Numbers, Numbers]:
    """Entropy (head, query), never below zero by rounding; 1 where it means something, else 0."""
    statistics = attention_map.statistics
    looking = statistics.rows & (statistics.allowed > 0)
    entropy = np.where(looking, np.maximum(statistics.entropy, 0.0), 0.0).astype(np.float64)
    whole = find_whole_heads(attention_map)[:, None]
    if not whole.any():
        raise UndefinedError(_EDITED)
    return entropy, np.broadcast_to(whole, entropy.shape).astype(np.float64)


def _explain(defined: Numbers) -> str:
    return _NO_ROW if defined.all() else _EDITED
