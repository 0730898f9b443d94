"""One layer's attention, with the tokens of both axes.

In:   statistics (always), and what there is of dense weights, factors, sinks, scores, vectors and pyramids.
Out:  AttentionMap; `weights` and `scores` of any rectangle, exact whichever way they are backed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from types import MappingProxyType

import numpy as np
from numpy.typing import DTypeLike, NDArray

from glassformer.messages import Message
from glassformer.place import Kind, Place
from glassformer.recording.arrays import (
    FLOATS,
    SINGLE,
    AnyArray,
    Floats,
    Rebuilt,
    freeze,
    is_mapped,
    keep,
    refuse,
    require_count,
    require_text,
)
from glassformer.recording.evidence import as_message
from glassformer.recording.factors import Factors
from glassformer.recording.pooling import count_pixels
from glassformer.recording.row_sums import check_mass, check_rows
from glassformer.recording.statistics import Content, HeadStatistics, Pyramid
from glassformer.recording.tokens import Tokens

MOST_BYTES = 1 << 30  # bytes of weights that one call may compute
TOLERANCE = 1e-4  # how far a row may be from summing to one
HALF_TOLERANCE = 1e-2  # the same where the model computes in half precision
HALVES = ("float16", "bfloat16")

_DO = "Record the map again; if it stays, the recorder is at fault."


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AttentionMap(Rebuilt):
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
    relaxed: Message | None = None  # why rows need not sum to one (an edit after the softmax)

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
        parts = ((self.query, Tokens), (self.key, Tokens), (self.statistics, HeadStatistics))
        for part, wanted in parts:
            if not isinstance(part, wanted):
                refuse(
                    f"A part of the map is {part!r}.",
                    f"Wanted {wanted.__name__}.",
                    "Give each part its place.",
                )
        self._check_shapes()
        self._check_pyramids()
        if self.scale is not None and not (isinstance(self.scale, (int, float)) and isfinite(self.scale)):
            refuse(
                f"The scale of the map is {self.scale!r}.",
                "Wanted a finite number.",
                "Leave it out if unknown.",
            )
        if self.content == "signed":
            self._check_signed()
        elif self.relaxed is None:
            check_mass(self.name, self.statistics, self.sink_weights, self.tolerance)
            check_rows(
                self.name, self.statistics, self.dense, self.factors, self.sink_weights, self.tolerance
            )
        if self.relaxed is not None:
            keep(self, relaxed=as_message("The reason why rows need not sum to one", self.relaxed))

    # What there is

    @property
    def heads(self) -> int:
        return self.statistics.heads

    @property
    def shape(self) -> tuple[int, int, int]:
        """(head, query, key)"""
        return self.heads, len(self.query), len(self.key)

    @property
    def content(self) -> Content:
        """ "weights": every row sums to one; "signed": differences, attributions and other effects."""
        return self.statistics.content

    @property
    def place(self) -> Place:
        """The address of this map."""
        return Place(self.stack, self.kind, self.layer, self.step)

    @property
    def name(self) -> str:
        """For a person: decoder layer 3, cross."""
        return str(self.place)

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
        factors = self.require_factors("weights")
        self._require_small(head, rows, columns)
        if head is not None:
            return factors.weights(self.require_head(head), rows, columns)
        return np.stack([factors.weights(each, rows, columns) for each in range(self.heads)])

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        """All weights (head, query, key): `numpy.asarray(attention_map)`."""
        return np.array(self.weights(), dtype=dtype, copy=copy)

    def scores(
        self, head: int | None = None, queries: slice | None = None, keys: slice | None = None
    ) -> NDArray[np.float32]:
        """The same rectangle before the softmax: scaled, soft-capped, biased; minus infinity where masked."""
        rows, columns = span(queries, len(self.query), "query"), span(keys, len(self.key), "key")
        if self.dense_scores is not None:
            chosen = self.dense_scores if head is None else self.dense_scores[self.require_head(head)]
            return chosen[..., rows, columns]
        factors = self.require_factors("scores")
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

    def require_factors(self, what: str = "weights") -> Factors:
        """The factors; refuses a map that kept only statistics."""
        if self.factors is None:
            refuse(
                f"The map {self.name} kept no {what}, only statistics.",
                f"Wanted dense {what} or the queries and keys they follow from.",
                f"Record again with {what!r} in want=.",
            )
        return self.factors

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

    def _require_small(self, head: int | None, rows: slice, columns: slice) -> None:
        heads = self.heads if head is None else 1
        shape = (heads, rows.stop - rows.start, columns.stop - columns.start)
        size = 4 * shape[0] * shape[1] * shape[2]
        if size > MOST_BYTES:
            refuse(
                f"These weights would take {size / 2**30:.1f} GiB, {shape}.",
                f"Wanted at most {MOST_BYTES / 2**30:.0f} GiB at once.",
                "Ask for one head and a slice of queries and keys, or for a tile.",
            )

    def _check_signed(self) -> None:
        if self.dense is None:
            refuse(
                f"{self.name} is signed and has no values.",
                "Wanted dense values.",
                "Signed maps are kept whole.",
            )
        if not is_mapped(self.dense) and not np.isfinite(self.dense).all():
            refuse(f"{self.name} holds NaN or infinity.", "Wanted finite numbers.", "Look where they arise.")

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
        keep(
            self,
            pyramids=MappingProxyType(
                {self.require_head(head): self.pyramids[head] for head in self.pyramids}
            ),
        )
        for head, pyramid in self.pyramids.items():
            wanted = (
                count_pixels(len(self.query), pyramid.level),
                count_pixels(len(self.key), pyramid.level),
            )
            if pyramid.mean.shape != wanted:
                refuse(
                    f"The pyramid of head {head} has {pyramid.mean.shape} pixels at level {pyramid.level}.",
                    f"Wanted {wanted}.",
                    _DO,
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
