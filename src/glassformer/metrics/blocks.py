"""How metrics read maps: row block by row block, or along a diagonal, never a long map at once.

In:   an attention map.
Out:  rectangles to ask weights of; weights along a diagonal; where queries stand among the keys, and which
      keys are padding.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from glassformer.metrics.scores import Numbers, UndefinedError
from glassformer.recording import AttentionMap
from glassformer.recording.row_sums import find_wrong_mass

BLOCK = 1 << 21  # weights read at once
DIAGONAL = 64  # rows of a square that is computed for the sake of its diagonal


def require_weights(attention_map: AttentionMap) -> None:
    """Refuse a map that kept only statistics."""
    if not attention_map.has_weights:
        raise UndefinedError("metrics.only_statistics")


def row_blocks(attention_map: AttentionMap) -> Iterator[tuple[slice, slice]]:
    """Queries and keys of rectangles that cover every weight that can be above zero, top to bottom."""
    require_weights(attention_map)
    _, queries, keys = attention_map.shape
    height = max(1, BLOCK // max(keys, 1))
    for start in range(0, queries, height):
        rows = slice(start, min(start + height, queries))
        factors = None if attention_map.dense is not None else attention_map.factors
        yield rows, slice(0, keys) if factors is None else factors.reach(rows)


def find_offset(attention_map: AttentionMap) -> int:
    """Query i of a self-attention map stands at position i + offset among the keys."""
    if attention_map.kind == "cross":
        raise UndefinedError("metrics.no_shared_positions")
    if attention_map.factors is not None:
        return attention_map.factors.offset
    _, queries, keys = attention_map.shape
    if queries > keys:
        raise UndefinedError("metrics.more_queries_than_keys")
    return keys - queries  # with cached keys, the queries are the last tokens


def find_real_keys(attention_map: AttentionMap) -> NDArray[np.bool_]:
    """Which keys (key,) are no padding, as far as the rows of self-attention tell."""
    _, queries, keys = attention_map.shape
    real = np.ones(keys, dtype=bool)
    try:
        positions = np.arange(queries) + find_offset(attention_map)
    except UndefinedError:  # queries do not stand among the keys
        return real
    inside = (positions >= 0) & (positions < keys)
    real[positions[inside]] = attention_map.statistics.rows[inside]
    return real


def read_diagonal(attention_map: AttentionMap, shift: int) -> tuple[Numbers, np.ndarray]:
    """Weights (head, query) at the key `shift` after each query's own position, and which rows have one.

    A key of padding is none: the last word of a text has no next one, however far it is filled up.
    """
    require_weights(attention_map)
    heads, queries, keys = attention_map.shape
    columns = np.arange(queries) + find_offset(attention_map) + shift
    inside = (columns >= 0) & (columns < keys)  # (query,)
    found = np.zeros((heads, queries))
    rows = np.flatnonzero(inside)
    inside[rows] = find_real_keys(attention_map)[columns[rows]]
    if attention_map.dense is not None:
        found[:, rows] = attention_map.dense[:, rows, columns[rows]]
        return found, inside
    for start in range(0, len(rows), DIAGONAL):
        part = rows[start : start + DIAGONAL]  # rows with a key are one run, and so are their keys
        block = slice(int(part[0]), int(part[-1]) + 1)
        reach = slice(int(columns[part[0]]), int(columns[part[-1]]) + 1)
        for head in range(heads):
            found[head, block] = np.diagonal(attention_map.weights(head, block, reach))
    return found, inside


def count_outcomes(attention_map: AttentionMap) -> Numbers:
    """Where each row may look (head, query): its allowed keys, and the sink where there is one."""
    sink = 0 if attention_map.sink_weights is None else 1
    return attention_map.statistics.allowed.astype(np.float64) + sink


def find_whole_heads(attention_map: AttentionMap) -> np.ndarray:
    """Which heads (head,) have rows that sum to one: all, unless an edit after the softmax changed some."""
    if attention_map.relaxed is None:
        return np.ones(attention_map.heads, dtype=bool)
    statistics, sink = attention_map.statistics, attention_map.sink_weights
    return ~find_wrong_mass(statistics, sink, attention_map.tolerance)[0]


def read_rows(attention_map: AttentionMap, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """The weights of a few rows that need not be neighbours, all heads (head, row, key)."""
    if attention_map.dense is not None:
        return attention_map.dense[:, rows]
    each = [attention_map.weights(None, slice(row, row + 1)) for row in rows.tolist()]
    return np.concatenate(each, axis=1)
