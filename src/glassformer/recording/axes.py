"""Where the axes of a map lie in the two texts, and whether it looks ahead.

In:   a recording and one of its maps.
Out:  sides, first tokens, causal or not. A map of one generation step shows a part of its sides.
"""

import numpy as np

from glassformer.recording import AttentionMap, Recording, Side, Tokens


def find_side(recording: Recording, side: Side) -> Tokens | None:
    """The tokens of a side."""
    return recording.source if side == "source" else recording.target


def find_starts(recording: Recording, attention_map: AttentionMap) -> tuple[int, int]:
    """The first query and the first key, as tokens of their sides. Keys begin early, queries stand late."""
    keys = _find_places(recording, attention_map.key)
    key_start = keys[0]
    queries = _find_places(recording, attention_map.query)
    _, query_count, key_count = attention_map.shape
    last = key_start + key_count - query_count  # a step of self-attention stands at the end of its keys
    if attention_map.kind == "self" and last in queries:
        return last, key_start
    if attention_map.step in queries:
        return attention_map.step, key_start
    return queries[-1], key_start


def _find_places(recording: Recording, tokens: Tokens) -> list[int]:
    """Every place of its side where these tokens stand; 0 where they are the side, or nowhere in it."""
    whole = find_side(recording, tokens.side)
    count = len(tokens)
    if whole is None or count >= len(whole) or count == 0:
        return [0]
    first = np.flatnonzero(whole.ids[: len(whole) - count + 1] == tokens.ids[0]).tolist()
    found = [start for start in first if _stand_at(whole, tokens, start)]
    return found or [0]


def _stand_at(whole: Tokens, tokens: Tokens, start: int) -> bool:
    part = slice(start, start + len(tokens))
    if not np.array_equal(whole.ids[part], tokens.ids):
        return False
    if whole.offsets is None or tokens.offsets is None:
        return True
    return np.array_equal(whole.offsets[part], tokens.offsets)


def is_causal(attention_map: AttentionMap) -> bool:
    """Whether no token looks ahead: by the mask where it is known, else by how many keys rows may look at."""
    if attention_map.kind != "self":
        return False
    if attention_map.factors is not None:
        return attention_map.factors.causal
    allowed = attention_map.statistics.allowed[0] if attention_map.heads else np.zeros(0)
    queries, keys = len(attention_map.query), len(attention_map.key)
    if queries < 2 or attention_map.step is not None:
        return attention_map.stack == "decoder"
    real = attention_map.statistics.rows
    limit = np.arange(queries) + 1 + keys - queries
    return bool((allowed[real] <= limit[real]).all())
