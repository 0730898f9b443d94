"""Repetition patterns: heads that find the same token again, or what followed it.

In:   a self-attention map, and the token ids of its keys.
Out:  duplicate-token and induction scores (Wang et al. 2023; Olsson et al. 2022, prefix matching).

Only rows with something to find are averaged. Special tokens, which repeat in every text, are never sought,
and padding is no token of the text.
"""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from glassformer.messages import message
from glassformer.metrics.blocks import find_offset, find_real_keys, read_diagonal, row_blocks
from glassformer.metrics.metric import head_metric
from glassformer.metrics.parameters import About
from glassformer.metrics.scores import Numbers, Rows, UndefinedError
from glassformer.recording import AttentionMap

_PADDING = -3  # in place of ids that say nothing

Period = Annotated[int, About("metrics.parameters.period", least=0)]


@head_metric("duplicate_token", unit="share", needs="weights")
def find_duplicates(attention_map: AttentionMap) -> Rows:
    """The weight on earlier occurrences of the same token, averaged over the rows whose token has one.

    Σ w(i, j) over j < i with tokenⱼ = tokenᵢ, averaged over the rows i that have such a j. Special
    tokens are not sought.
    """
    return _collect(attention_map, 0, "metrics.no_repeated_token")


@head_metric("induction", unit="share", needs="weights")
def find_successors(attention_map: AttentionMap) -> Rows:
    """The weight on what followed earlier occurrences of the current token, averaged over such rows.

    Σ w(i, j) over j < i with tokenⱼ₋₁ = tokenᵢ, averaged over the rows i that have such a j: the
    prefix-matching score on any text.
    """
    return _collect(attention_map, 1, "metrics.no_repeated_pair")


@head_metric("induction_on_repeats", unit="share", needs="weights")
def follow_repeats(attention_map: AttentionMap, *, period: Period = 0) -> Rows:
    """In a sequence said twice or more, the weight on the token after the current one's last occurrence.

    w(i, i − p + 1), averaged over the rows with tokenᵢ = tokenᵢ₋ₚ, for a sequence (of random tokens,
    usually) that repeats after p: the prefix-matching score of Olsson et al. 2022.
    """
    offset, ids = find_offset(attention_map), attention_map.key.ids
    special = attention_map.key.special
    distance = period or find_period(ids[~special & find_real_keys(attention_map)])
    if distance < 2:
        raise UndefinedError("metrics.not_repeated")
    weights, inside = read_diagonal(attention_map, 1 - distance)
    positions = np.arange(len(attention_map.query)) + offset
    before = positions - distance
    repeated = inside & (before >= 0)
    repeated[repeated] = (ids[positions[repeated]] == ids[before[repeated]]) & ~special[positions[repeated]]
    counts = np.broadcast_to(repeated, weights.shape)
    return Rows(np.where(counts, weights, 0.0), counts, message("metrics.no_token_before", distance=distance))


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
