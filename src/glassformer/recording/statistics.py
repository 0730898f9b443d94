"""What is always known about a head: numbers per query and per key, in O(n) memory, and a thumbnail.

In:   arrays that a recorder measured while the model ran (or a small dense map, measured here in float64).
Out:  HeadStatistics and Pyramid, checked and read-only.

Conventions that everyone shares
- Natural logarithms. `entropy` is that of the whole row, where an attention sink is one more outcome.
- `above`, `peak`, `distance` and `mass` speak of keys only, never of the sink.
- `above` counts weights greater than `threshold`. For another one they are counted again from the weights:
  nothing kept here could answer exactly.
- Query i stands at position i + offset, key j at position j; `distance` is the sum of w * |i + offset - j|.
- Rows where `rows` is False are padding: their values mean nothing, and `mass` leaves them out.
- Signed values (differences, attributions) have no entropy and no distance (NaN) and none above a threshold;
  `peak` is the value farthest from zero, `mass` the sum that a key received, `thumbnail_max` the extremes.
- Thumbnails and pyramids are pooled in squares of 2**level tokens (see pooling.py), all rows included.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import RecordingError
from glassformer.recording.arrays import (
    BOOLEANS,
    DOUBLES,
    FLOATS,
    INTEGERS,
    SINGLE,
    AnyArray,
    Booleans,
    Floats,
    Integers,
    Rebuilt,
    choose,
    freeze_field,
    is_mapped,
    keep,
    require_choice,
    wrong_value,
)
from glassformer.recording.pooling import count_pixels, pool_extreme, pool_max, pool_mean

Content = Literal["weights", "signed"]  # weights: rows sum to one; signed: differences, attributions

THRESHOLD = 0.01  # the default of "non-zero"
BINS = 64  # a thumbnail has at most so many pixels a side

_SLACK = 1e-2  # statistics of half-precision models are off by about this much
_SAMPLE = 1024  # rows looked at in statistics that live in a file


def thumbnail_level(queries: int, keys: int, bins: int = BINS) -> int:
    """The finest level (2**level tokens a pixel, both ways) at which a map fits into bins x bins pixels."""
    return max(0, (max(queries, keys, 1) - 1).bit_length() - (bins.bit_length() - 1))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HeadStatistics(Rebuilt):
    """The statistics of every head of one map; see the module for what each means.

    >>> statistics = gf.record("zoo/bert", "The cat sleeps.").map().statistics
    >>> statistics.entropy.shape, statistics.mass.shape  # (head, query), (head, key)
    ((8, 7), (8, 7))
    """

    entropy: Floats  # (head, query) nats
    peak: Floats  # (head, query) the largest weight
    peak_key: Integers  # (head, query) its key
    above: Integers  # (head, query) weights greater than threshold
    log_sum_exp: NDArray[np.float64]  # (head, query) of scores and sink; NaN where scores were not seen
    distance: Floats  # (head, query) NaN where it means nothing
    allowed: Integers  # (head, query) keys the mask allows; (query,) is accepted and shared by all heads
    mass: Floats  # (head, key) weight received from real rows
    thumbnail_mean: NDArray[np.float32]  # (head, query pixel, key pixel)
    thumbnail_max: NDArray[np.float32]  # (head, query pixel, key pixel)
    rows: Booleans  # (query,) True for real rows, False for padding
    threshold: float = THRESHOLD
    content: Content = "weights"

    def __post_init__(self) -> None:
        freeze_field(self, "entropy", FLOATS, [("head", None), ("query", None)])
        heads, queries = self.entropy.shape
        per_query = [("head", heads), ("query", queries)]
        for name in ("peak", "distance"):
            freeze_field(self, name, FLOATS, per_query)
        for name in ("peak_key", "above"):
            freeze_field(self, name, INTEGERS, per_query)
        freeze_field(self, "log_sum_exp", DOUBLES, per_query)
        freeze_field(self, "mass", FLOATS, [("head", heads), ("key", None)])
        freeze_field(self, "rows", BOOLEANS, [("query", queries)])
        freeze_field(self, "allowed", INTEGERS, per_query[1:] if np.ndim(self.allowed) == 1 else per_query)
        if self.allowed.ndim == 1:
            keep(self, allowed=np.broadcast_to(self.allowed, (heads, queries)))
        if not isinstance(self.threshold, float) or not 0 <= self.threshold < 1:
            raise wrong_value("HeadStatistics.threshold", self.threshold, "share")
        require_choice("HeadStatistics.content", self.content, ("weights", "signed"))
        axes = [("head", heads), ("query pixel", None), ("key pixel", None)]
        freeze_field(self, "thumbnail_mean", SINGLE, axes)
        _, *pixels = self.thumbnail_mean.shape
        axes = [("head", heads), ("query pixel", pixels[0]), ("key pixel", pixels[1])]
        freeze_field(self, "thumbnail_max", SINGLE, axes)
        _level_of(tuple(pixels), queries, self.keys)
        if self.content == "weights":
            self._check_values()

    @property
    def heads(self) -> int:
        return int(self.mass.shape[0])

    @property
    def queries(self) -> int:
        return int(self.entropy.shape[1])

    @property
    def keys(self) -> int:
        return int(self.mass.shape[1])

    @property
    def looking(self) -> Booleans:
        """(head, query) True for real rows that may look at some key."""
        shared = self.allowed.strides[0] == 0  # by all heads: compared once
        looking = self.rows & ((self.allowed[:1] if shared else self.allowed) > 0)
        return np.broadcast_to(looking, self.allowed.shape)

    @property
    def level(self) -> int:
        """The thumbnails show 2**level tokens a pixel."""
        return _level_of(self.thumbnail_mean.shape[1:], self.queries, self.keys)

    def _check_values(self) -> None:
        numbers = choose(self.queries, _SAMPLE) if is_mapped(self.entropy) else np.arange(self.queries)
        numbers = numbers[self.rows[numbers]]
        chosen = slice(None) if len(numbers) == self.queries else numbers  # all of them: without copies
        every = self.allowed[:, chosen]  # (head, row)
        allowed = every[:1] if _is_shared(every) else every  # (head or 1, row)
        most = np.log(np.maximum(allowed, 1) + 1.0) + _SLACK  # one more than allowed: the sink
        above = self.above[:, chosen]
        checks = (  # name, values, least, most, what they should be where a query sees something
            ("entropy", self.entropy[:, chosen], -_SLACK, most.astype(np.float32), "0 … log(allowed)"),
            ("peak", self.peak[:, chosen], 0, 1 + _SLACK, "0 … 1"),
            ("peak_key", self.peak_key[:, chosen], 0, self.keys - 1, f"0 … {self.keys - 1}"),
            ("allowed", allowed, 0, self.keys, f"0 … {self.keys}"),
            ("above", above, 0, allowed.astype(above.dtype), "0 … allowed"),
        )
        for name, values, least, largest, wanted in checks:
            if _lies_within(values, least, largest):
                continue
            fits = (values >= least) & (values <= largest)
            wrong = ~fits if name in ("allowed", "above") else ~fits & (allowed > 0)
            if wrong.any():
                head, row = np.argwhere(wrong)[0]
                raise RecordingError(
                    "recording.wrong_statistic",
                    name=name,
                    value=values[head, row].item(),
                    head=int(head),
                    query=int(numbers[row]),
                    wanted=wanted,
                )

    def __repr__(self) -> str:
        return f"HeadStatistics({self.heads} heads, {self.queries} queries x {self.keys} keys)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pyramid(Rebuilt):
    """One head pooled at 2**level tokens a pixel: every coarser level follows from it without the weights."""

    level: int
    mean: NDArray[np.float32]  # (query pixel, key pixel)
    maximum: NDArray[np.float32]  # (query pixel, key pixel)

    def __post_init__(self) -> None:
        if not isinstance(self.level, int) or not 0 <= self.level < 32:
            raise wrong_value("Pyramid.level", self.level, "level")
        freeze_field(self, "mean", SINGLE, [("query pixel", None), ("key pixel", None)])
        rows, columns = self.mean.shape
        freeze_field(self, "maximum", SINGLE, [("query pixel", rows), ("key pixel", columns)])

    def __repr__(self) -> str:
        return f"Pyramid(level {self.level}, {self.mean.shape[0]} x {self.mean.shape[1]} pixels)"


def measure(
    weights: Floats,
    allowed: Booleans | None = None,
    rows: Booleans | None = None,
    log_sum_exp: NDArray[np.float64] | None = None,
    sink_weights: Floats | None = None,
    offset: int = 0,
    threshold: float = THRESHOLD,
) -> HeadStatistics:
    """Statistics of a dense map (head, query, key) in float64: the reference for faster ways."""
    heads, queries, keys = weights.shape
    exact = weights.astype(np.float64)  # (head, query, key)
    permitted = np.broadcast_to(np.True_ if allowed is None else allowed, exact.shape)
    real = np.ones(queries, dtype=bool) if rows is None else np.asarray(rows)
    sink = [] if sink_weights is None else [np.asarray(sink_weights)[..., None]]
    outcomes = np.concatenate([exact, *sink], axis=-1)
    logarithms = np.log(outcomes, out=np.zeros_like(outcomes), where=outcomes > 0)
    positions = np.abs(np.arange(queries)[:, None] + offset - np.arange(keys))  # (query, key)
    return HeadStatistics(
        entropy=-(outcomes * logarithms).sum(axis=-1),
        peak=exact.max(axis=-1, initial=0.0),
        peak_key=exact.argmax(axis=-1) if keys else np.zeros((heads, queries), dtype=np.int64),
        above=((weights > threshold) & permitted).sum(axis=-1),
        log_sum_exp=np.full((heads, queries), np.nan) if log_sum_exp is None else log_sum_exp,
        distance=(exact * positions).sum(axis=-1),
        allowed=permitted.sum(axis=-1),
        mass=exact[:, real].sum(axis=1),
        thumbnail_mean=_pool_heads(pool_mean, exact),
        thumbnail_max=_pool_heads(pool_max, exact),
        rows=real,
        threshold=threshold,
    )


def measure_signed(values: Floats, rows: Booleans | None = None) -> HeadStatistics:
    """What can be said of a dense map of signed values (head, query, key)."""
    heads, queries, keys = values.shape
    exact = values.astype(np.float64)  # (head, query, key)
    real = np.ones(queries, dtype=bool) if rows is None else np.asarray(rows)
    strongest = np.abs(exact).argmax(axis=-1) if keys else np.zeros((heads, queries), dtype=np.int64)
    unknown = np.full((heads, queries), np.nan)
    return HeadStatistics(
        entropy=unknown,
        peak=np.take_along_axis(exact, strongest[..., None], axis=-1)[..., 0] if keys else unknown,
        peak_key=strongest,
        above=np.zeros((heads, queries), dtype=np.int64),
        log_sum_exp=unknown,
        distance=unknown,
        allowed=np.full(queries, keys),
        mass=exact[:, real].sum(axis=1),
        thumbnail_mean=_pool_heads(pool_mean, exact),
        thumbnail_max=_pool_heads(pool_extreme, exact),
        rows=real,
        content="signed",
    )


def _pool_heads(pool: Callable[[Floats, int], Floats], values: Floats) -> NDArray[np.float32]:
    """Thumbnails (head, query pixel, key pixel) of values (head, query, key)."""
    return pool(values, thumbnail_level(*values.shape[1:])).astype(np.float32)


def _lies_within(values: AnyArray, least: float, largest: AnyArray | float) -> bool:
    """Whether no value is too small, too large or NaN: by the extremes, if one bound is that of all."""
    if values.size == 0:
        return True
    below = values.max() <= largest if np.ndim(largest) == 0 else (values <= largest).all()
    return bool(values.min() >= least and below)


def _is_shared(allowed: Integers) -> bool:
    """Whether all heads may see as many keys; where they are one array, without looking."""
    return allowed.strides[0] == 0 or bool((allowed == allowed[:1]).all())


def _level_of(shape: tuple[int, ...], queries: int, keys: int) -> int:
    """The level whose pixels have this shape; refuses a shape that no level has."""
    level = next((level for level in range(32) if shape == _pixels(queries, keys, level)), None)
    if level is None:
        wanted = _pixels(queries, keys, thumbnail_level(queries, keys))
        raise RecordingError(
            "recording.wrong_thumbnail", shape=str(shape), queries=queries, keys=keys, wanted=str(wanted)
        )
    return level


def _pixels(queries: int, keys: int, level: int) -> tuple[int, int]:
    return count_pixels(queries, level), count_pixels(keys, level)
