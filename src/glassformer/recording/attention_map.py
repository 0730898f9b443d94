"""One layer's attention, with the tokens of both axes.

In:   statistics (always), and what there is of: dense weights, factors, sinks, scores, query, key and value vectors, pyramids.
Out:  AttentionMap; `weights` and `scores` of any rectangle, exact whichever way they are backed.

An array in memory is checked whole; an array that lives in a file is checked by samples, so that opening stays lazy.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from glassformer.recording.arrays import (
    FLOATS,
    SINGLE,
    Floats,
    choose,
    freeze,
    is_mapped,
    keep,
    refuse,
    require_count,
    require_text,
)
from glassformer.recording.factors import Factors
from glassformer.recording.statistics import HeadStatistics, Pyramid, pixels
from glassformer.recording.tokens import Tokens

Kind = Literal["self", "cross"]

LARGEST = 1 << 30  # bytes of weights that one call may compute
TOLERANCE = 1e-4  # how far a row may be from summing to one
HALF_TOLERANCE = 1e-2  # the same where the model computes in half precision
HALVES = ("float16", "bfloat16")

_DO = "Record the map again; if it stays, the recorder is at fault."
_SAMPLED_ROWS = 4
_SAMPLED_KEYS = 1 << 23  # elements of the key vectors that a check of factors may read


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AttentionMap:
    """Who looks at whom in one layer. Construction checks shapes against tokens and row sums against one."""

    stack: str  # "encoder" or "decoder"
    layer: int  # by call order within the stack
    kind: Kind
    query: Tokens
    key: Tokens
    statistics: HeadStatistics
    dense: NDArray[np.float32] | None = None  # (head, query, key) weights
    factors: Factors | None = None
    sink_weights: NDArray[np.float32] | None = None  # (head, query) weight that goes to no key
    dense_scores: NDArray[np.float32] | None = None  # (head, query, key) as softmax was given them
    queries: Floats | None = None  # (head, query, width)
    keys: Floats | None = None  # (key head, key, width)
    values: Floats | None = None  # (key head, key, value width)
    scale: float | None = None  # the attention-score multiplier, usually 1 / sqrt(width)
    pyramids: Mapping[int, Pyramid] = field(default_factory=dict)  # by head
    step: int | None = None  # the generation step this map was seen in; None for a whole map
    dtype: str = "float32"  # the precision the model computed in
    relaxed: str | None = None  # why rows need not sum to one (an edit after the softmax)

    def __post_init__(self) -> None:
        require_text("The stack of a map", self.stack, "Call it encoder or decoder.")
        require_count("The layer of a map", self.layer, "Number layers by call order within their stack.")
        if self.kind not in ("self", "cross"):
            refuse(
                f"The kind of the map is {self.kind!r}.", "Wanted 'self' or 'cross'.", "Name one of the two."
            )
        if self.step is not None:
            require_count("The step of a map", self.step, "Number generation steps from 0.")
        require_text(
            "The dtype of a map", self.dtype, "Name the precision the model computed in, such as float32."
        )
        self._check_shapes()
        self._check_pyramids()
        if self.relaxed is None:
            self._check_mass()
            self._check_rows()

    # What there is

    @property
    def heads(self) -> int:
        return self.statistics.heads

    @property
    def shape(self) -> tuple[int, int, int]:
        """(head, query, key)"""
        return self.heads, len(self.query), len(self.key)

    @property
    def name(self) -> str:
        """For a person: decoder layer 3, cross."""
        step = "" if self.step is None else f", step {self.step}"
        return f"{self.stack} layer {self.layer}, {self.kind}{step}"

    @property
    def has_weights(self) -> bool:
        return self.dense is not None or self.factors is not None

    @property
    def has_scores(self) -> bool:
        return self.dense_scores is not None or self.factors is not None

    @property
    def tolerance(self) -> float:
        """How far a row may be from summing to one."""
        return HALF_TOLERANCE if self.dtype in HALVES else TOLERANCE

    def weights(
        self, head: int | None = None, queries: slice | None = None, keys: slice | None = None
    ) -> NDArray[np.float32]:
        """The weights of a rectangle of one head (query, key), or of all heads (head, query, key)."""
        rows, columns = span(queries, len(self.query), "query"), span(keys, len(self.key), "key")
        if self.dense is not None:
            chosen = self.dense if head is None else self.dense[self.require_head(head)]
            return chosen[..., rows, columns]
        factors = self._require_factors("weights")
        self._require_small(head, rows, columns)
        if head is not None:
            return factors.weights(self.require_head(head), rows, columns)
        return np.stack([factors.weights(each, rows, columns) for each in range(self.heads)])

    def scores(
        self, head: int | None = None, queries: slice | None = None, keys: slice | None = None
    ) -> NDArray[np.float32]:
        """The same rectangle before the softmax: scaled, soft-capped, biased; minus infinity where masked."""
        rows, columns = span(queries, len(self.query), "query"), span(keys, len(self.key), "key")
        if self.dense_scores is not None:
            chosen = self.dense_scores if head is None else self.dense_scores[self.require_head(head)]
            return chosen[..., rows, columns]
        factors = self._require_factors("scores")
        self._require_small(head, rows, columns)
        if head is not None:
            return factors.scores(self.require_head(head), rows, columns).astype(np.float32)
        return np.stack(
            [factors.scores(each, rows, columns).astype(np.float32) for each in range(self.heads)]
        )

    def require_head(self, head: int) -> int:
        """The head, if there is one of this number."""
        if not isinstance(head, (int, np.integer)) or not 0 <= head < self.heads:
            refuse(
                f"There is no head {head!r} in {self.name}.",
                f"Wanted 0 to {self.heads - 1}.",
                "Choose one of them.",
            )
        return int(head)

    def __repr__(self) -> str:
        heads, queries, keys = self.shape
        backing = (
            "dense"
            if self.dense is not None
            else "factors"
            if self.factors is not None
            else "statistics only"
        )
        return f"AttentionMap({self.name}: {heads} heads, {queries} x {keys}, {backing})"

    # Checks

    def _require_factors(self, what: str) -> Factors:
        if self.factors is None:
            refuse(
                f"The map {self.name} kept no {what}, only statistics.",
                f"Wanted dense {what} or the queries and keys they follow from.",
                f"Record again with {what!r} in want=.",
            )
        return self.factors

    def _require_small(self, head: int | None, rows: slice, columns: slice) -> None:
        heads = self.heads if head is None else 1
        size = 4 * heads * (rows.stop - rows.start) * (columns.stop - columns.start)
        if size > LARGEST:
            refuse(
                f"These weights would take {size / 2**30:.1f} GiB ({heads} x {rows.stop - rows.start} x {columns.stop - columns.start}).",
                f"Wanted at most {LARGEST / 2**30:.0f} GiB at once.",
                "Ask for one head and a slice of queries and keys, or for a tile.",
            )

    def _check_shapes(self) -> None:
        heads, queries, keys = self.shape
        seen = (self.statistics.queries, self.statistics.keys)
        if seen != (queries, keys):
            refuse(
                f"The statistics of {self.name} speak of {seen[0]} queries and {seen[1]} keys.",
                f"Wanted {queries} and {keys}: so many tokens are on its axes.",
                _DO,
            )
        matrix = [("head", heads), ("query", queries), ("key", keys)]
        for name in ("dense", "dense_scores"):
            if (array := getattr(self, name)) is not None:
                keep(self, **{name: freeze(name, array, SINGLE, matrix, _DO)})
        if self.factors is not None:
            if self.factors.shape != self.shape:
                refuse(
                    f"The factors of {self.name} have shape {self.factors.shape}.",
                    f"Wanted {self.shape}.",
                    _DO,
                )
            keep(
                self,
                queries=self.factors.queries if self.queries is None else self.queries,
                keys=self.factors.keys if self.keys is None else self.keys,
                scale=self.factors.scale if self.scale is None else self.scale,
                sink_weights=self.factors.sink_weights() if self.sink_weights is None else self.sink_weights,
            )
        vectors = {"queries": ("head", queries), "keys": ("key head", keys), "values": ("key head", keys)}
        for name, (which, tokens) in vectors.items():
            if (array := getattr(self, name)) is not None:
                axes = [(which, heads if which == "head" else None), ("token", tokens), ("width", None)]
                keep(self, **{name: freeze(name, array, FLOATS, axes, _DO)})
        if self.sink_weights is not None:
            keep(self, sink_weights=freeze("sink_weights", self.sink_weights, SINGLE, matrix[:2], _DO))

    def _check_pyramids(self) -> None:
        keep(self, pyramids=MappingProxyType(dict(self.pyramids)))
        for head, pyramid in self.pyramids.items():
            self.require_head(head)
            wanted = (pixels(len(self.query), pyramid.level), pixels(len(self.key), pyramid.level))
            if pyramid.mean.shape != wanted:
                refuse(
                    f"The pyramid of head {head} has {pyramid.mean.shape} pixels at level {pyramid.level}.",
                    f"Wanted {wanted}.",
                    _DO,
                )

    def _check_mass(self) -> None:
        """Summed over the keys, the mass received is the number of real rows: a check of every row in O(n)."""
        looking = self.statistics.rows & (self.statistics.allowed > 0)  # (head, query)
        rows = looking.sum(axis=1)  # (head,)
        total = self.statistics.mass.sum(axis=1, dtype=np.float64)
        if self.sink_weights is not None:
            total = total + np.where(looking, self.sink_weights, 0).sum(axis=1, dtype=np.float64)
        wrong = ~(np.abs(total - rows) <= self.tolerance * np.maximum(rows, 1))
        if wrong.any():
            head = int(wrong.argmax())
            self._refuse_sum(
                head, f"the mass received by all keys is {total[head]:.6g}", f"{rows[head]} rows"
            )

    def _check_rows(self) -> None:
        if self.dense is None and self.factors is None:
            return
        array = self.dense if self.dense is not None else self.factors.keys  # type: ignore[union-attr]
        real = np.flatnonzero(self.statistics.rows)
        sampled = self.dense is None or is_mapped(array)
        rows = real[choose(len(real), _SAMPLED_ROWS)] if sampled else real
        per_head = max(1, array.size // max(1, self.heads))
        heads = (
            choose(self.heads, max(1, _SAMPLED_KEYS // per_head))[-self.heads :]
            if sampled
            else np.arange(self.heads)
        )
        for head in heads.tolist():
            looking = rows[self.statistics.allowed[head, rows] > 0]
            if sampled:
                parts = [self.weights(head, slice(row, row + 1)) for row in looking.tolist()]
            else:
                parts = [self.dense[head] if len(looking) == len(self.query) else self.dense[head, looking]]  # type: ignore[index]
            if not parts or not len(looking):
                continue
            sums = np.concatenate([part.sum(axis=-1) for part in parts])  # (row,)
            lowest = min(float(part.min(initial=0.0)) for part in parts)
            if self.sink_weights is not None:
                sums = sums + self.sink_weights[head, looking]
            wrong = ~(np.abs(sums - 1) <= self.tolerance)  # NaN is wrong, too
            if wrong.any():
                index = int(wrong.argmax())
                self._refuse_sum(head, f"the weights of query {looking[index]} sum to {sums[index]:.6g}", "1")
            if lowest < -self.tolerance:
                self._refuse_sum(head, f"a weight is {lowest:.6g}", "0 or more")

    def _refuse_sum(self, head: int, saw: str, wanted: str) -> None:
        refuse(
            f"In {self.name}, head {head}, {saw}.",
            f"Wanted {wanted}, within {self.tolerance:g}.",
            "Look for NaN in the model's weights, a sink that was not passed on, or an edit that needs relaxed=.",
        )


def span(part: slice | None, length: int, axis: str) -> slice:
    """A slice with its ends filled in; refuses steps and ends beyond the axis."""
    if part is None:
        return slice(0, length)
    start = 0 if part.start is None else int(part.start)
    stop = length if part.stop is None else int(part.stop)
    if part.step not in (None, 1) or not 0 <= start <= stop <= length:
        refuse(
            f"The {axis} slice is {part}.",
            f"Wanted 0 <= start <= stop <= {length}, no step.",
            "Choose within the map.",
        )
    return slice(start, stop)
