"""Sinks: keys that draw attention whatever the text says.

In:   an attention map's statistics; its weights are never read.
Out:  what each token receives, how much one key draws, how much goes to delimiters.
"""

import unicodedata
from functools import lru_cache

import numpy as np

from glassformer.messages import message
from glassformer.metrics.metric import head_metric, recording_metric
from glassformer.metrics.scores import Part, Rows
from glassformer.recording import AttentionMap, Recording, Tokens
from glassformer.recording.arrays import Booleans


@head_metric("sink_mass", unit="share", reads_tokens=False)
def measure_sink(attention_map: AttentionMap) -> Rows:
    """The share of attention that goes to the most attended key, and to the sink column if there is one.

    (maxⱼ mⱼ + s) / rows, where mⱼ is the weight that key j receives from all rows and s what goes to
    the sink column.
    """
    statistics = attention_map.statistics
    looking = statistics.looking
    totals = statistics.mass.max(axis=1, initial=0.0).astype(np.float64)
    if attention_map.sink_weights is not None:
        totals = totals + np.where(looking, attention_map.sink_weights, 0.0).sum(axis=1, dtype=np.float64)
    return Rows(totals, looking.sum(axis=1))


def find_delimiters(tokens: Tokens) -> Booleans:
    """Which tokens (token,) are special, or consist of punctuation."""
    return tokens.special | np.fromiter(map(is_punctuation, tokens.texts), bool, len(tokens))


@lru_cache(maxsize=1 << 16)
def is_punctuation(text: str) -> bool:
    """Whether all that is there to see is punctuation, in any script."""
    seen = text.strip()
    return bool(seen) and all(unicodedata.category(character).startswith("P") for character in seen)


@head_metric("delimiter", unit="share", marks=find_delimiters)
def look_at_delimiters(attention_map: AttentionMap, marked: Booleans) -> Rows:
    """The share of attention that goes to special tokens and punctuation.

    Σ mⱼ / rows over the keys j that are special tokens or punctuation. Undefined where there are none.
    """
    statistics = attention_map.statistics
    totals = np.where(marked, statistics.mass, 0.0).sum(axis=1, dtype=np.float64)
    counts = np.where(marked.any(axis=1), statistics.looking.sum(axis=1), 0)
    undefined = "metrics.no_row" if marked.any() else "metrics.no_delimiter"
    return Rows(totals, counts, undefined)


@recording_metric("attention_received", unit="share", over="token", needs="statistics")
def measure_received(recording: Recording) -> tuple[Part, ...]:
    """The share of all attention that each key receives.

    mⱼ / rows for each key j.
    """
    parts = []
    for each in recording.maps:
        statistics = each.statistics
        rows = statistics.looking.sum(axis=1)[:, None]  # (head, 1)
        shares = np.full(statistics.mass.shape, np.nan)
        np.divide(statistics.mass, rows, out=shares, where=rows > 0)
        undefined = () if (rows > 0).all() else (message("metrics.no_row"),)
        parts.append(Part(each.place, ("head", "key"), shares, undefined=undefined))
    return tuple(parts)
