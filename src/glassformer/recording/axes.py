"""Where the axes of a map lie in the two texts, which words name its rows, and whether it looks ahead.

In:   a recording and one of its maps.
Out:  sides, first tokens, names of rows, causal or not. A map of one step shows a part of its sides.

An axis may show neither text: a vision tower beside a language model reads patches. Such tokens are sides of
their own, "part", "part2" and "part3" in the order of the maps.

A row of cross-attention is computed when a word enters the decoder, to write the next one. It is named by
the word that it writes; the reading "entered" names it by the other. Rows of self-attention are always named
by the word that entered, as their columns are (docs/decisions/0026).
"""

from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from glassformer.place import Reading
from glassformer.recording import AttentionMap, Recording, Side, Tokens

PartSide = Literal["part", "part2", "part3"]
AxisSide = Literal[Side, PartSide]
RowSide = Literal[AxisSide, "written"]  # "written": what each token of the target's side writes
UNKNOWN = "…"  # a word that was not recorded


def find_side(recording: Recording, side: RowSide) -> Tokens | None:
    """The tokens of a side."""
    if side == "written":
        return find_written(recording)
    if side == "source" or side == "target":
        return recording.source if side == "source" else recording.target
    return find_parts(recording).get(side)


def find_parts(recording: Recording) -> dict[PartSide, Tokens]:
    """The tokens of axes that stand in neither text."""
    parts: list[Tokens] = []
    for each in recording.maps:
        for tokens in (each.query, each.key) if each.step is None else ():
            if not _stands_in_text(recording, tokens) and not any(_is_same(part, tokens) for part in parts):
                parts.append(tokens)
    return dict(zip(get_args(PartSide), parts, strict=False))


def find_axis_side(recording: Recording, tokens: Tokens) -> AxisSide:
    """Where the tokens of an axis stand."""
    if _stands_in_text(recording, tokens):
        return tokens.side
    parts = find_parts(recording)
    return next((side for side, part in parts.items() if _is_same(part, tokens)), tokens.side)


def _stands_in_text(recording: Recording, tokens: Tokens) -> bool:
    whole = recording.source if tokens.side == "source" else recording.target
    if whole is None or tokens is whole or len(tokens) == 0:
        return True
    count = len(tokens)
    starts = np.flatnonzero(whole.ids[: max(0, len(whole) - count + 1)] == tokens.ids[0]).tolist()
    return any(
        np.array_equal(whole.ids[start : start + count], tokens.ids)
        and whole.texts[start : start + count] == tokens.texts
        for start in starts
    )


def _is_same(one: Tokens, other: Tokens) -> bool:
    return one is other or (one.side == other.side and one.texts == other.texts)


def name_rows(recording: Recording, attention_map: AttentionMap, reading: Reading = "written") -> Tokens:
    """The tokens that name the rows of a map: the only place where that is decided.

    >>> recording = gf.record("zoo/translator", "Thank you.", target_language="fr")
    >>> cross = recording.map("decoder", "cross", 0)
    >>> cross.query.texts[0], gf.name_rows(recording, cross).texts[-1]  # entered first, and written last
    ('<s>', '</s>')
    """
    written = find_written(recording)
    if reading == "entered" or written is None or find_row_side(recording, attention_map) != "written":
        return attention_map.query
    start = find_starts(recording, attention_map)[0]
    return written.take(slice(start, start + len(attention_map.query)))


def find_row_side(recording: Recording, attention_map: AttentionMap) -> RowSide:
    """Whose tokens name the rows of a map: "written" in cross-attention of a text that is written."""
    side = find_axis_side(recording, attention_map.query)
    if attention_map.kind != "cross" or side != "target" or not _is_written(recording):
        return side
    return "written"


def find_written(recording: Recording) -> Tokens | None:
    """What each position of the target writes: the token behind it, and last what came or would come next."""
    if recording.target is None or not _is_written(recording):
        return None
    steps = () if recording.generation is None else recording.generation.steps
    ids, count = recording.target.ids, len(steps) - 1
    if steps and ids[len(ids) - count :].tolist() == [step.token for step in steps[:-1]]:
        return shift_tokens(recording.target, steps[-1].text, steps[-1].token, _find_special(recording))
    output = recording.output
    if output is not None and output.kind == "tokens" and len(output.ids) == len(ids) and output.ids.size:
        token = int(output.ids[-1, 0])
        return shift_tokens(recording.target, output.vocabulary[token], token, _find_special(recording))
    return shift_tokens(recording.target)


def shift_tokens(
    tokens: Tokens, last: str = UNKNOWN, id: int = 0, special: frozenset[int] = frozenset({0})
) -> Tokens:
    """The token behind each token; behind the last one `last`, special where its id is one of `special`."""
    if len(tokens) == 0:
        return tokens
    end = 0 if tokens.text is None else len(tokens.text)
    return replace(
        tokens,
        texts=(*tokens.texts[1:], last),
        ids=np.append(tokens.ids[1:], id),
        offsets=None if tokens.offsets is None else np.append(tokens.offsets[1:], [[end, end]], axis=0),
        special=np.append(tokens.special[1:], id in special),
        words=None if tokens.words is None else np.append(tokens.words[1:], -1),
    )


def _is_written(recording: Recording) -> bool:
    """Whether the target is written word by word: has a start token, was generated, or never looks ahead."""
    target = recording.target
    if target is None or len(target) == 0:
        return False
    if bool(target.special[0]) or recording.generation is not None:
        return True
    own = [each for each in recording.maps if each.kind == "self" and each.query.side == "target"]
    return bool(own) and all(map(is_causal, own))


def _find_special(recording: Recording) -> frozenset[int]:
    """The ids of special tokens that occur."""
    sides = [side for side in (recording.source, recording.target) if side is not None]
    return frozenset(each for side in sides for each in side.ids[side.special].tolist())


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
    whole = find_side(recording, find_axis_side(recording, tokens))
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
