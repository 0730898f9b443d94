"""A map that is not stored: queries, keys and row log-sum-exp, from which any part is computed on demand.

In:   what the attention function was given (after rotary positions and the like), and each row's log-sum-exp.
Out:  Factors; `scores` and `weights` of any rectangle of one head.

    score(i, j)  = softcap(scale * q_i . k_j) + bias(i, j)      softcap(x) = c * tanh(x / c)
    weight(i, j) = exp(score(i, j) - log_sum_exp(i))            where the mask allows j, else 0

Query i stands at position i + offset, key j at position j. `causal` allows j <= i + offset; `window` allows
|i + offset - j| < window; `key_mask` allows keys. A bias of minus infinity masks, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from glassformer.errors import RecordingError
from glassformer.recording.arrays import (
    BOOLEANS,
    DOUBLES,
    FLOATS,
    SINGLE,
    Booleans,
    Floats,
    freeze_field,
    wrong_value,
)
from glassformer.recording.later import Lazy
from glassformer.recording.products import arrange_keys, multiply

_ROWS, _COLUMNS = 256, 1024  # a piece of float64 scores that stays in the cache


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Factors(Lazy):
    """What weights follow from; with grouped queries, head h reads key head h // (heads / key heads)."""

    queries: Floats  # (head, query, width)
    keys: Floats  # (key head, key, width)
    log_sum_exp: NDArray[np.float64]  # (head, query) sink included
    scale: float
    bias: Floats | None = None  # (head or 1, query or 1, key or 1) added to the scores
    distance_bias: Floats | None = None  # (head, query + key - 1) entry key - query + (query count - 1)
    causal: bool = False
    window: int | None = None
    offset: int = 0
    key_mask: Booleans | None = None  # (key,) True where looking is allowed
    softcap: float | None = None
    sink: Floats | None = None  # (head,) the logit of a column that belongs to no key

    def __post_init__(self) -> None:
        self.freeze_later("queries", FLOATS, _axes("head", "query", "width"))
        heads, queries, width = self.peek("queries").shape
        self.freeze_later("keys", FLOATS, [("key head", None), ("key", None), ("width", width)])
        key_heads, keys = self.peek("keys").shape[:2]
        if key_heads == 0 or heads % key_heads:
            raise RecordingError("recording.uneven_key_heads", heads=heads, key_heads=key_heads)
        freeze_field(self, "log_sum_exp", DOUBLES, [("head", heads), ("query", queries)])
        freeze_field(self, "bias", SINGLE, _axes("head", "query", "key"))
        lengths = self.shape if self.bias is None else self.bias.shape
        if any(seen not in (1, full) for seen, full in zip(lengths, self.shape, strict=True)):
            raise wrong_value("Factors.bias", lengths, "bias", shape=str(self.shape))
        along = ("query + key - 1", queries + keys - 1)
        freeze_field(self, "distance_bias", SINGLE, [("head", heads), along])
        freeze_field(self, "key_mask", BOOLEANS, [("key", keys)])
        freeze_field(self, "sink", FLOATS, [("head", heads)])
        self._check_numbers()

    def _check_numbers(self) -> None:
        _require_number("scale", self.scale)
        if self.softcap is not None:
            _require_number("softcap", self.softcap)
            if self.softcap <= 0:
                raise wrong_value("Factors.softcap", self.softcap, "above_zero")
        if self.window is not None and (not isinstance(self.window, int) or self.window < 1):
            raise wrong_value("Factors.window", self.window, "at_least_one")
        if not isinstance(self.offset, int):
            raise wrong_value("Factors.offset", self.offset, "integer")

    @property
    def shape(self) -> tuple[int, int, int]:
        """(head, query, key)"""
        queries, keys = self.peek("queries").shape, self.peek("keys").shape
        return queries[0], queries[1], keys[1]

    @property
    def width(self) -> int:
        """Of one query or key."""
        width: int = self.peek("queries").shape[2]
        return width

    def queries_of(self, head: int) -> Floats:
        """(query, width)"""
        return self.read_head("queries", head)

    def keys_of(self, head: int) -> Floats:
        """The keys (key, width) that a query head reads."""
        return self.read_head("keys", head // (self.shape[0] // self.peek("keys").shape[0]))

    def scores(self, head: int, queries: slice, keys: slice, precision: type[Any] = np.float64) -> Floats:
        """What softmax is given for a rectangle of a head (query, key); minus infinity where masked."""
        left = self.queries_of(head)[queries].astype(precision) * precision(self.scale)
        arranged = arrange_keys(self.keys_of(head)[keys], precision)
        scores = multiply(left, arranged)[:, : keys.stop - keys.start]  # (query, key)
        self.finish(scores, head, queries, keys)
        return scores

    def finish(self, scores: Floats, head: int, queries: slice, keys: slice) -> None:
        """Turn scaled dot products (query, key) into scores, in place: soft cap, biases, masks."""
        if self.softcap is not None:
            np.tanh(np.divide(scores, self.softcap, out=scores), out=scores)
            scores *= self.softcap
        if self.bias is not None:
            scores += self._bias_of(self.bias, head, queries, keys)
        if self.distance_bias is not None:
            scores += self._distance_bias_of(self.distance_bias[head], queries, keys)
        allowed = self.allowed(queries, keys)
        if allowed is not None:
            np.copyto(scores, -np.inf, where=~allowed)

    def weights(self, head: int, queries: slice, keys: slice) -> NDArray[np.float32]:
        """The weights of a rectangle of one head (query, key), computed in float64, a piece at a time."""
        weights = np.zeros((queries.stop - queries.start, keys.stop - keys.start), dtype=np.float32)
        for rows in _split(queries.start, queries.stop, _ROWS):
            shift = self.row_shift(head, rows)[:, None]
            reach = self.reach(rows)
            for columns in _split(max(keys.start, reach.start), min(keys.stop, reach.stop), _COLUMNS):
                exponents = self.scores(head, rows, columns)
                with np.errstate(over="ignore", invalid="ignore"):  # infinity and NaN are for the row check
                    exponents -= shift
                    np.exp(exponents, out=exponents)
                down, right = rows.start - queries.start, columns.start - keys.start
                weights[down : down + len(exponents), right : right + exponents.shape[1]] = exponents
        return weights

    def row_shift(self, head: int, queries: slice) -> NDArray[np.float64]:
        """The log-sum-exp of rows (query,); plus infinity for a row without keys: its weights are 0."""
        shift = self.log_sum_exp[head, queries]
        return np.where(shift == -np.inf, np.inf, shift)

    def sink_weights(self) -> NDArray[np.float32] | None:
        """The weight that goes to no key (head, query)."""
        if self.sink is None:
            return None
        return np.exp(self.sink.astype(np.float64)[:, None] - self.log_sum_exp).astype(np.float32)

    def allowed(self, queries: slice, keys: slice) -> Booleans | None:
        """Which keys the mask allows in a rectangle, (query, key) or (1, key); None when all are."""
        allowed: Booleans | None = None
        if self.key_mask is not None and not self.key_mask[keys].all():
            allowed = self.key_mask[keys][None, :]
        rows = np.arange(queries.start, queries.stop) + self.offset
        columns = np.arange(keys.start, keys.stop)
        if rows.size == 0 or columns.size == 0:
            return allowed
        least, most = rows[0] - columns[-1], rows[-1] - columns[0]  # of the distances in the rectangle
        if self.causal and least < 0:
            behind = rows[:, None] >= columns
            allowed = behind if allowed is None else allowed & behind
        if self.window is not None and max(most, -least) >= self.window:
            near = np.abs(rows[:, None] - columns) < self.window
            allowed = near if allowed is None else allowed & near
        return allowed

    def reach(self, queries: slice) -> slice:
        """The keys that some row of `queries` may see; see `find_reach`."""
        return find_reach(queries, self.shape[2], self.causal, self.window, self.offset)

    def _bias_of(self, bias: Floats, head: int, queries: slice, keys: slice) -> Floats:
        plane = bias[head if bias.shape[0] > 1 else 0]
        rows = queries if plane.shape[0] > 1 else slice(None)
        return plane[rows, keys if plane.shape[1] > 1 else slice(None)]

    def _distance_bias_of(self, table: Floats, queries: slice, keys: slice) -> Floats:
        """A rectangle with constant diagonals, as a view of the table: each row starts one entry earlier."""
        rows, columns = queries.stop - queries.start, keys.stop - keys.start
        start = keys.start - queries.start + self.shape[1] - 1
        step = table.strides[0]
        if rows == 0 or columns == 0:
            return np.zeros((rows, columns), dtype=table.dtype)
        return as_strided(table[start:], (rows, columns), (-step, step), writeable=False)

    def __repr__(self) -> str:
        heads, queries, keys = self.shape
        return f"Factors({heads} heads, {queries} queries x {keys} keys, width {self.width})"


def find_reach(queries: slice, keys: int, causal: bool, window: int | None, offset: int) -> slice:
    """The keys that causal mask and window leave to some row of `queries`: no other need be computed."""
    first, last = 0, keys
    if causal:
        last = min(last, queries.stop + offset)
    if window is not None:
        first = max(first, queries.start + offset - window + 1)
        last = min(last, queries.stop - 1 + offset + window)
    first = min(first, keys)
    return slice(first, max(first, last))


def _split(start: int, stop: int, size: int) -> Iterator[slice]:
    """Slices of at most `size` that cover start … stop."""
    return (slice(first, min(first + size, stop)) for first in range(start, stop, size))


def _axes(*names: str) -> list[tuple[str, int | None]]:
    return [(name, None) for name in names]


def _require_number(name: str, value: Any) -> None:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not isfinite(value):
        raise wrong_value(f"Factors.{name}", value, "finite")
