"""Sinks: keys that draw attention whatever the text says.

In:   an attention map's statistics; its weights are never read.
Out:  what each token receives, how much one key draws, how much goes to delimiters.
"""

import unicodedata

import numpy as np

from glassformer.messages import literal
from glassformer.metrics.metric import head_metric, recording_metric
from glassformer.metrics.scores import Part, Phrase, Rows, UndefinedError, Wording
from glassformer.recording import AttentionMap, Recording, Tokens

_NO_ROW = "No row looks anywhere."


@head_metric(
    "sink_mass",
    Wording(
        Phrase("Sink mass", "汇聚质量"),
        "被关注最多的那个键（以及额外的汇聚列）所占的注意力比例。",
        lower=Phrase(
            "Lower means that no single key draws the attention.", "越低的值代表没有单独吸引注意力的键。"
        ),
        higher=Phrase(
            "Higher means that most rows look at one and the same key, often to do nothing.",
            "越高的值代表多数行都关注同一个键，往往表示该头不起作用。",
        ),
    ),
    unit="share",
)
def measure_sink(attention_map: AttentionMap) -> Rows:
    """The share of attention that goes to the most attended key, and to the sink column if there is one."""
    statistics = attention_map.statistics
    looking = statistics.rows & (statistics.allowed > 0)
    totals = statistics.mass.max(axis=1, initial=0.0).astype(np.float64)
    if attention_map.sink_weights is not None:
        totals = totals + np.where(looking, attention_map.sink_weights, 0.0).sum(axis=1, dtype=np.float64)
    return Rows(totals, looking.sum(axis=1), _NO_ROW)


@head_metric(
    "delimiter",
    Wording(
        Phrase("Delimiters", "分隔符"),
        "落在特殊词元和标点上的注意力比例。",
        lower=Phrase("Near 0: delimiters are ignored.", "接近 0：忽略分隔符。"),
        higher=Phrase("Near 1: the head looks at delimiters only.", "接近 1：该头只关注分隔符。"),
    ),
    unit="share",
)
def look_at_delimiters(attention_map: AttentionMap) -> Rows:
    """The share of attention that goes to special tokens and punctuation."""
    statistics = attention_map.statistics
    delimiters = find_delimiters(attention_map.key)
    if not delimiters.any():
        raise UndefinedError("No key is a special token or punctuation.")
    looking = statistics.rows & (statistics.allowed > 0)
    totals = statistics.mass[:, delimiters].sum(axis=1, dtype=np.float64)
    return Rows(totals, looking.sum(axis=1), _NO_ROW)


@recording_metric(
    "attention_received",
    Wording(
        Phrase("Attention received", "所受关注"),
        "每个键从所有行得到的注意力，除以行数。",
        lower=Phrase("Near 0: nobody looks at this token.", "接近 0：没有行关注该词元。"),
        higher=Phrase("Near 1: every row looks at this token only.", "接近 1：所有行都只关注该词元。"),
    ),
    unit="share",
    over="token",
    needs="statistics",
)
def measure_received(recording: Recording) -> tuple[Part, ...]:
    """The share of all attention that each key receives."""
    parts = []
    for each in recording.maps:
        statistics = each.statistics
        rows = (statistics.rows & (statistics.allowed > 0)).sum(axis=1)[:, None]  # (head, 1)
        shares = np.full(statistics.mass.shape, np.nan)
        np.divide(statistics.mass, rows, out=shares, where=rows > 0)
        undefined = () if (rows > 0).all() else (literal(_NO_ROW),)
        parts.append(Part(each.place, ("head", "key"), shares, undefined=undefined))
    return tuple(parts)


def find_delimiters(tokens: Tokens) -> np.ndarray:
    """Which tokens (token,) are special, or consist of punctuation."""
    return tokens.special | np.array([is_punctuation(text) for text in tokens.texts], dtype=bool)


def is_punctuation(text: str) -> bool:
    """Whether all that is there to see is punctuation, in any script."""
    seen = text.strip()
    return bool(seen) and all(unicodedata.category(character).startswith("P") for character in seen)
