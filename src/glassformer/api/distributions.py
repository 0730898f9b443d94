"""Histograms: how the numbers of a recording are spread.

In:   a recording, what to count and where.
Out:  Distribution. Numbers are read block by block, twice: first their ends, then the counts. Of very long
      texts a sample of rows is read, and the answer says so.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, cast, get_args

import numpy as np

from glassformer.api.cancellation import check_cancelled
from glassformer.api.hidden import find_states, take_layer
from glassformer.api.tiles import Vectors, find_map, find_vectors, not_recorded
from glassformer.errors import ApiError
from glassformer.recording import AttentionMap, Recording
from glassformer.recording.arrays import AnyArray, choose
from glassformer.schema import ResponseModel

Of = Literal["hidden", "queries", "keys", "values", "attention", "scores", "scores_unscaled", "embeddings"]

MOST_CELLS = 8 << 20  # of attention or scores that are read
_ROWS = 256  # of hidden states at once, times a thousand


class Distribution(ResponseModel):
    """A histogram and the first moments of what it counts."""

    edges: tuple[float, ...]  # one more than counts
    counts: tuple[int, ...]
    count: int
    minimum: float | None
    maximum: float | None
    mean: float | None
    deviation: float | None
    left_out: int  # masked, or not finite
    whole: bool  # False: of a sample of rows


@dataclass(frozen=True, slots=True)
class Where:
    """Which part of a recording."""

    stack: str | None = None
    layer: int | None = None
    place: str | None = None  # the address of a map, or its index
    head: int | None = None


Blocks = Callable[[], Iterable[tuple[AnyArray, AnyArray | None]]]  # numbers, and which of them are counted


def distribute(recording: Recording, of: Of, where: Where, bins: int) -> Distribution:
    """The histogram of a part of a recording."""
    if of in ("hidden", "embeddings"):
        return histogram(_read_hidden(recording, of, where), bins, whole=True)
    attention_map = _choose_map(recording, where)
    if of in get_args(Vectors):
        vectors = find_vectors(attention_map, cast(Vectors, of), where.head)
        blocks = [(each, None) for each in (vectors if where.head is None else (vectors,))]
        return histogram(lambda: blocks, bins, whole=True)
    heads = range(attention_map.heads) if where.head is None else (attention_map.require_head(where.head),)
    _, queries, keys = attention_map.shape
    rows = choose(queries, max(1, MOST_CELLS // max(1, keys * len(heads))))
    _require(attention_map, of)

    def read() -> Iterator[tuple[AnyArray, AnyArray | None]]:
        for head in heads:
            for part in _runs(rows):
                yield _read_rows(attention_map, of, head, part)

    return histogram(read, bins, whole=len(rows) == queries)


def histogram(blocks: Blocks, bins: int, *, whole: bool) -> Distribution:
    """The counts of numbers that come block by block."""
    least, most, count, left_out, total, squares = math.inf, -math.inf, 0, 0, 0.0, 0.0
    for numbers, known in blocks():
        check_cancelled()
        finite = _choose_finite(numbers, known)
        left_out += numbers.size - finite.size
        if finite.size:
            least, most = min(least, float(finite.min())), max(most, float(finite.max()))
            count += finite.size
            total += float(finite.sum())
            squares += float(np.square(finite).sum())
    if count == 0:
        return Distribution(
            edges=(0.0, 1.0), counts=(0,), count=0, minimum=None, maximum=None, mean=None, deviation=None,
            left_out=left_out, whole=whole,
        )  # fmt: skip
    ends = (least, most) if most > least else (least - 0.5, most + 0.5)
    edges = np.linspace(*ends, bins + 1)
    counts = np.zeros(bins, dtype=np.int64)
    for numbers, known in blocks():
        check_cancelled()
        counts += np.histogram(_choose_finite(numbers, known), edges)[0]
    mean = total / count
    return Distribution(
        edges=tuple(edges.tolist()),
        counts=tuple(counts.tolist()),
        count=count,
        minimum=least,
        maximum=most,
        mean=mean,
        deviation=math.sqrt(max(0.0, squares / count - mean * mean)),
        left_out=left_out,
        whole=whole,
    )


def _choose_finite(numbers: AnyArray, known: AnyArray | None) -> AnyArray:
    keep = np.isfinite(numbers) if known is None else np.isfinite(numbers) & known
    return numbers[keep].astype(np.float64)


def _read_hidden(recording: Recording, of: Of, where: Where) -> Blocks:
    stack = where.stack if where.stack is not None else next(iter(recording.hidden), "encoder")
    states = find_states(recording, stack)
    if of == "embeddings":
        planes = [take_layer(states, stack, 0)]
    elif where.layer is not None:
        planes = [take_layer(states, stack, where.layer)]
    else:
        planes = [states[layer] for layer in range(len(states))]

    def read() -> Iterator[tuple[AnyArray, None]]:
        for plane in planes:
            step = max(1, 1_000 * _ROWS // max(1, plane.shape[1]))
            for start in range(0, len(plane), step):
                yield plane[start : start + step], None

    return read


def _choose_map(recording: Recording, where: Where) -> AttentionMap:
    if where.place is not None:
        return find_map(recording, where.place)
    for each in recording.maps:
        if where.stack in (None, each.stack) and where.layer in (None, each.layer):
            return each
    raise ApiError("api.no_such_map", "no_map", 404)


def _require(attention_map: AttentionMap, of: Of) -> None:
    """ApiError where the map lacks what is needed."""
    queries, keys = attention_map.peek("queries"), attention_map.peek("keys")
    vectors = queries is not None and keys is not None and queries.shape[-1] == keys.shape[-1]
    missing = {
        "attention": not attention_map.has_weights,
        "scores": not attention_map.has_scores,
        "scores_unscaled": not vectors,
    }
    if missing[of]:
        raise not_recorded(
            attention_map, *{"attention": ("weights",), "scores": ("scores",)}.get(of, ("queries", "keys"))
        )


def _runs(rows: AnyArray) -> Iterator[slice]:
    """Neighbouring rows together, a thousand at most."""
    breaks = np.flatnonzero(np.diff(rows) != 1) + 1
    for run in np.split(rows, breaks):
        for start in range(int(run[0]), int(run[-1]) + 1, 1000) if len(run) else ():
            yield slice(start, min(start + 1000, int(run[-1]) + 1))


def _read_rows(
    attention_map: AttentionMap, of: Of, head: int, rows: slice
) -> tuple[AnyArray, AnyArray | None]:
    """Some rows of a head, and which cells the mask allows."""
    statistics = attention_map.statistics
    real = statistics.rows[rows][:, None]
    if of == "scores":
        return attention_map.scores(head, rows), real
    allowed = _find_allowed(attention_map, head, rows)
    if of == "attention":
        return attention_map.weights(head, rows), real & allowed
    group = attention_map.heads // attention_map.peek("keys").shape[0]
    left = attention_map.read_head("queries", head)[rows].astype(np.float32)
    return left @ attention_map.read_head("keys", head // group).astype(np.float32).T, real & allowed


def _find_allowed(attention_map: AttentionMap, head: int, rows: slice) -> AnyArray:
    """(query, key) or (1, 1): by the mask, by scores, or by weights that are not zero where that decides."""
    if attention_map.factors is not None:
        allowed = attention_map.factors.allowed(rows, slice(0, len(attention_map.key)))
        return np.ones((1, 1), dtype=bool) if allowed is None else allowed
    if attention_map.dense_scores is not None:
        return attention_map.dense_scores[head, rows] > -np.inf
    counts = attention_map.statistics.allowed[head, rows][:, None]  # (query, 1)
    keys = len(attention_map.key)
    if (counts == keys).all():
        return np.ones((1, 1), dtype=bool)
    # A mask is not kept, but how many keys it allows is: a causal one allows the first so many.
    weights = attention_map.weights(head, rows)
    first = np.arange(keys) < counts
    causal = ((weights > 0) <= first).all(axis=1, keepdims=True)
    return np.where(causal, first, weights > 0)
