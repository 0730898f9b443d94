"""Words instead of sub-words: maps rolled up, and tokens matched with words that someone else marked.

In:   maps over sub-word tokens.
Out:  the same attention between words. What a word receives is the sum over its keys; where it looks is the
      mean over its queries, so that rows still sum to one.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.metrics.blocks import require_weights, row_blocks
from glassformer.metrics.masks import find_allowed
from glassformer.metrics.scores import Numbers
from glassformer.place import name_term
from glassformer.recording import AttentionMap, Recording, Tokens, measure

MOST_TOKENS = 4096  # tokens: a map of words is kept whole
_ROLLED_UP = message("metrics.rolled_up")

Groups = NDArray[np.int64]  # (token,) the word of each token from 0, -1 for none


def roll_up_words(
    weights: NDArray[np.floating], queries: Groups, keys: Groups, rows: NDArray[np.bool_] | None = None
) -> Numbers:
    """Weights (query, key) between tokens as weights between words, (query word, key word)."""
    sums = _sum_keys(weights, keys)
    counted = (queries >= 0) & (True if rows is None else rows)
    return _mean_queries(_add_rows(sums[counted], queries[counted], _count(queries)), queries[counted])


def roll_up_head(attention_map: AttentionMap, head: int, queries: Groups, keys: Groups) -> Numbers:
    """The same for one head of a map, row block by row block; rows that look nowhere are left out."""
    totals = np.zeros((_count(queries), _count(keys)))
    counted = (queries >= 0) & attention_map.statistics.looking[head]
    for rows, _ in row_blocks(attention_map):
        sums = _sum_keys(attention_map.weights(head, rows), keys)[counted[rows]]
        totals += _add_rows(sums, queries[rows][counted[rows]], len(totals))
    return _mean_queries(totals, queries[counted])


def roll_up_map(attention_map: AttentionMap) -> AttentionMap:
    """A map between words; a token that belongs to no word, such as [CLS], stays as it is."""
    require_weights(attention_map)
    if max(attention_map.shape[1:]) > MOST_TOKENS:
        tokens = max(attention_map.shape[1:])
        raise InputError("metrics.long_roll_up", place=attention_map.place, tokens=tokens, most=MOST_TOKENS)
    words, keys = find_words(attention_map.query), find_words(attention_map.key)
    queries = _group_rows(attention_map, words)
    real = attention_map.statistics.rows
    rows = np.bincount(queries[real], minlength=_count(queries)) > 0
    heads = range(attention_map.heads)
    dense = np.stack([roll_up_head(attention_map, head, queries, keys) for head in heads])
    allowed = np.stack([_roll_up_mask(attention_map, head, queries, keys) for head in heads])
    sink = attention_map.sink_weights
    if sink is not None:
        column = np.zeros(1, dtype=np.int64)
        looking = attention_map.statistics.looking
        rolled = (roll_up_words(sink[head, :, None], queries, column, looking[head]) for head in heads)
        sink = np.concatenate(list(rolled), axis=1).T.astype(np.float32)  # (head, query word)
    shared = attention_map.query is attention_map.key
    key = join_tokens(attention_map.key, keys)
    return AttentionMap(
        place=attention_map.place,
        query=key if shared else join_tokens(attention_map.query, words),
        key=key,
        statistics=measure(
            dense.astype(np.float32),
            allowed,
            rows,
            sink_weights=sink,
            offset=dense.shape[2] - dense.shape[1] if attention_map.kind == "self" else 0,
            threshold=attention_map.statistics.threshold,
        ),
        dense=dense.astype(np.float32),
        sink_weights=sink,
        dtype=attention_map.dtype,
        relaxed=attention_map.relaxed,
    )


def roll_up_recording(recording: Recording) -> Recording:
    """A recording between words, with its maps only: so every metric can be had for words.

    >>> recording = gf.record("zoo/bert", "Umbrellas are unbelievable.")
    >>> gf.roll_up_recording(recording).source.texts
    ('[CLS]', 'Umbrellas', 'are', 'unbelievable', '.', '[SEP]')
    """
    target = recording.target
    return Recording(
        recording.model,
        replace(recording.evidence, notes=(*recording.evidence.notes, _ROLLED_UP)),
        join_tokens(recording.source, find_words(recording.source)),
        None if target is None else join_tokens(target, find_words(target)),
        tuple(roll_up_map(each) for each in recording.maps),
    )


def find_words(tokens: Tokens) -> Groups:
    """The word of each token, every token in one: neighbours with the same word, or a token by itself."""
    if tokens.words is None:
        raise InputError("metrics.no_words", side=name_term(tokens.side))
    new = np.ones(len(tokens), dtype=bool)
    new[1:] = (np.diff(tokens.words) != 0) | (tokens.words[1:] < 0)
    return np.cumsum(new) - 1


def _group_rows(attention_map: AttentionMap, words: Groups) -> Groups:
    """Which row of words each row belongs to: behind a start token, the one that writes the same word."""
    if attention_map.kind != "cross" or attention_map.step is not None or not attention_map.query.special[0]:
        return words
    return np.append(words[1:] - 1, words[-1])


def join_tokens(tokens: Tokens, groups: Groups) -> Tokens:
    """One token for each word; words written alike have the same id."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    ends = np.append(starts[1:], len(groups))
    offsets = None
    if tokens.offsets is not None and len(starts):
        offsets = np.stack([tokens.offsets[starts, 0], tokens.offsets[ends - 1, 1]], axis=1)
    texts = []
    for word, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        written = (
            "" if offsets is None or tokens.text is None else tokens.text[slice(*offsets[word].tolist())]
        )
        texts.append(written if end > start + 1 and written else "".join(tokens.texts[start:end]))
    known: dict[str, int] = {}
    ids = np.array([known.setdefault(text.strip(), len(known)) for text in texts], dtype=np.int64)
    special = np.logical_and.reduceat(tokens.special, starts) if len(starts) else tokens.special
    return Tokens(tokens.side, tuple(texts), ids, offsets, tokens.text, special, np.arange(len(ids)))


def match_words(tokens: Tokens, words: Sequence[str]) -> Groups:
    """The word of each token among words that others marked in the same text; special tokens have none."""
    if tokens.offsets is None or tokens.text is None:
        raise InputError("metrics.no_offsets", side=name_term(tokens.side))
    spans = find_spans(words, tokens.text)
    ends = np.array([end for _, end in spans] or [0])
    groups = np.full(len(tokens), -1, dtype=np.int64)
    for index, (first, last) in enumerate(tokens.offsets.tolist()):
        if tokens.text[first:last].strip() and not tokens.special[index]:
            groups[index] = np.searchsorted(ends, first, side="right")  # the first word that ends after it
    missing = sorted(set(range(len(words))) - set(groups.tolist()))
    if missing:
        number = missing[0]
        side = name_term(tokens.side)
        raise InputError("metrics.word_without_token", number=number, word=words[number], side=side)
    return groups


def find_spans(words: Sequence[str], text: str) -> tuple[tuple[int, int], ...]:
    """Where words stand in a text, one after the other with nothing but spaces between."""
    spans, place = [], 0
    for number, word in enumerate(words):
        start = place + len(text[place:]) - len(text[place:].lstrip())
        if not word or not text.startswith(word, start):
            rest = text[start : start + 20]
            raise InputError("metrics.word_not_next", number=number, word=word, rest=rest)
        place = start + len(word)
        spans.append((start, place))
    if text[place:].strip():
        raise InputError("metrics.text_goes_on", rest=text[place:].strip()[:20])
    return tuple(spans)


def _roll_up_mask(attention_map: AttentionMap, head: int, queries: Groups, keys: Groups) -> NDArray[np.bool_]:
    """A word may look at a word if one of its tokens may look at one of its tokens."""
    allowed = find_allowed(attention_map, head)
    reached = _sum_keys(allowed.astype(np.float32), keys)
    return _add_rows(reached, queries, _count(queries)) > 0


def _sum_keys(weights: NDArray[np.floating], keys: Groups) -> Numbers:
    """Columns of a word added up, (query, key word)."""
    sums = np.zeros((len(weights), _count(keys)))
    starts = np.flatnonzero(np.diff(keys, prepend=-2))
    if len(starts) == 0:
        return sums
    runs = np.add.reduceat(weights, starts, axis=1, dtype=np.float64)
    for run, word in enumerate(keys[starts].tolist()):
        if word >= 0:
            sums[:, word] += runs[:, run]
    return sums


def _add_rows(sums: Numbers, queries: Groups, count: int) -> Numbers:
    """Rows of a word added up, (query word, key word)."""
    totals = np.zeros((count, sums.shape[1]))
    np.add.at(totals, queries, sums)
    return totals


def _mean_queries(totals: Numbers, queries: Groups) -> Numbers:
    counts = np.bincount(queries, minlength=len(totals))
    return totals / np.maximum(counts, 1)[:, None]


def _count(groups: Groups) -> int:
    return int(groups.max(initial=-1)) + 1
