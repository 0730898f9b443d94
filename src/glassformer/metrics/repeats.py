"""Repetition patterns: heads that find the same token again, or what followed it.

In:   a self-attention map, and the token ids of its keys.
Out:  duplicate-token and induction scores (Wang et al. 2023; Olsson et al. 2022, prefix matching).

Only rows with something to find are averaged. Special tokens, which repeat in every text, are never sought,
and padding is no token of the text.
"""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from glassformer.metrics.blocks import find_offset, find_real_keys, read_diagonal, row_blocks
from glassformer.metrics.metric import head_metric
from glassformer.metrics.parameters import About
from glassformer.metrics.scores import Numbers, Phrase, Rows, UndefinedError, Wording
from glassformer.recording import AttentionMap

_PADDING = -3  # in place of ids that say nothing

Period = Annotated[
    int,
    About(
        "after how many tokens the text repeats; 0 finds it out",
        "文本隔多少个词元重复一次；0 为自动判断",
        least=0,
    ),
]


@head_metric(
    "duplicate_token",
    Wording(
        Phrase("Duplicate token", "重复词元"),
        "落在同一词元先前出现处的平均权重。",
        lower=Phrase("Near 0: repetitions are ignored.", "接近 0：忽略重复。"),
        higher=Phrase("Near 1: the head finds the same token again.", "接近 1：该头会找到先前相同的词元。"),
    ),
    unit="share",
    needs="weights",
)
def find_duplicates(attention_map: AttentionMap) -> Rows:
    """The weight on earlier occurrences of the same token, averaged over the rows whose token has one."""
    return _collect(attention_map, 0, "No token of the text occurred before.")


@head_metric(
    "induction",
    Wording(
        Phrase("Induction", "归纳"),
        "落在当前词元先前出现处的后一个词元上的平均权重。",
        lower=Phrase("Near 0: no induction.", "接近 0：没有归纳行为。"),
        higher=Phrase(
            "Near 1: the head looks at what followed the same token before, as if to copy it.",
            "接近 1：该头关注同一词元上次出现后的内容，仿佛要复制它。",
        ),
    ),
    unit="share",
    needs="weights",
)
def find_successors(attention_map: AttentionMap) -> Rows:
    """The weight on what followed earlier occurrences of the current token, averaged over such rows."""
    return _collect(attention_map, 1, "No token of the text occurred before with another after it.")


@head_metric(
    "induction_on_repeats",
    Wording(
        Phrase("Induction on a repeated sequence", "重复序列上的归纳"),
        "在重复的（随机）序列上，落在上一遍中后一个词元上的平均权重。",
        lower=Phrase("Near 0: no induction head.", "接近 0：不是归纳头。"),
        higher=Phrase("Near 1: an induction head.", "接近 1：是归纳头。"),
    ),
    unit="share",
    needs="weights",
)
def follow_repeats(attention_map: AttentionMap, *, period: Period = 0) -> Rows:
    """In a sequence said twice or more, the weight on the token after the current one's last occurrence."""
    offset, ids = find_offset(attention_map), attention_map.key.ids
    special = attention_map.key.special
    distance = period or find_period(ids[~special & find_real_keys(attention_map)])
    if distance < 2:
        raise UndefinedError("The text is not one sequence repeated, so there is nothing to follow.")
    weights, inside = read_diagonal(attention_map, 1 - distance)
    positions = np.arange(len(attention_map.query)) + offset
    before = positions - distance
    repeated = inside & (before >= 0)
    repeated[repeated] = (ids[positions[repeated]] == ids[before[repeated]]) & ~special[positions[repeated]]
    counts = np.broadcast_to(repeated, weights.shape)
    return Rows(np.where(counts, weights, 0.0), counts, f"No token occurred {distance} tokens before.")


def find_period(ids: NDArray[np.int64]) -> int:
    """The smallest distance after which a sequence repeats to its end, at least once in full; 0 if none."""
    borders = [0] * len(ids)  # the longest proper prefix that is a suffix, of each beginning (Knuth et al.)
    length = 0
    for place in range(1, len(ids)):
        while length and ids[place] != ids[length]:
            length = borders[length - 1]
        length += int(ids[place] == ids[length])
        borders[place] = length
    period = len(ids) - length
    return period if 0 < 2 * period <= len(ids) else 0


def _collect(attention_map: AttentionMap, after: int, undefined: str) -> Rows:
    """Weights on the keys that stand `after` places behind an earlier occurrence of the query's token."""
    heads, queries, keys = attention_map.shape
    positions = np.arange(queries) + find_offset(attention_map)
    special = attention_map.key.special
    ids = np.where(find_real_keys(attention_map), attention_map.key.ids, _PADDING)
    _, firsts, kinds = np.unique(ids, return_index=True, return_inverse=True)
    eligible = (positions >= 0) & (positions < keys)  # (query,)
    places = positions[eligible]
    # An earlier occurrence, whose successor stands before the query: "a a" is no induction.
    eligible[eligible] = (firsts[kinds[places]] + after < places) & ~special[places]
    sought = np.full(queries, -1, dtype=ids.dtype)
    sought[eligible] = ids[positions[eligible]]
    found = np.concatenate([np.full(after, -2, dtype=ids.dtype), ids[: keys - after]])  # (key,) what precedes
    totals: Numbers = np.zeros((heads, queries))
    for rows, columns in row_blocks(attention_map):
        if not eligible[rows].any():
            continue
        earlier = np.arange(columns.start, columns.stop) < positions[rows, None]  # (query, key)
        wanted = (sought[rows, None] == found[columns]) & earlier
        for head in range(heads):
            weights = attention_map.weights(head, rows, columns)
            totals[head, rows] = np.where(wanted, weights, 0.0).sum(axis=1, dtype=np.float64)
    return Rows(totals, np.broadcast_to(eligible, totals.shape), undefined)
