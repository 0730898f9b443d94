"""One layer's attention, with the tokens of both axes.

In:   statistics (always), and what there is of dense weights, factors, sinks, scores, vectors and pyramids.
Out:  AttentionMap; `weights` and `scores` of any rectangle, exact whichever way they are backed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite, prod
from operator import index
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from glassformer.deprecated import accept_parts
from glassformer.errors import RecordingError
from glassformer.messages import Message
from glassformer.place import Kind, Place, name_term
from glassformer.recording.arrays import (
    FLOATS,
    SINGLE,
    AnyArray,
    Axis,
    Floats,
    freeze_field,
    is_mapped,
    keep,
    require_choice,
    require_count,
    require_text,
    require_type,
    wrong_value,
)
from glassformer.recording.evidence import as_message
from glassformer.recording.factors import Factors
from glassformer.recording.later import Later, Lazy
from glassformer.recording.pooling import count_pixels
from glassformer.recording.row_sums import check_mass, check_rows
from glassformer.recording.statistics import Content, HeadStatistics, Pyramid
from glassformer.recording.tokens import Tokens
from glassformer.rounding import row_tolerance

MOST_BYTES = 1 << 30  # bytes of weights that one call may compute


@accept_parts("place", Place)
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AttentionMap(Lazy):
    """Who looks at whom in one layer. Construction checks shapes against tokens and row sums against one.

    >>> recording = gf.record("zoo/bert", "The cat sleeps on the mat.")
    >>> attention_map = recording.map(layer=-1)
    >>> attention_map.shape  # (head, query, key)
    (8, 10, 10)
    >>> attention_map.weights(head=0, queries=slice(0, 2)).shape  # a rectangle of one head
    (2, 10)
    >>> attention_map.query.texts[:3]
    ('[CLS]', 'the', 'cat')
    >>> bool(np.allclose(np.asarray(attention_map).sum(axis=-1), 1, atol=1e-5))  # rows sum to one
    True
    """

    place: Place
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
    dtype: str = "float32"  # the precision the model computed in
    relaxed: Message | None = None  # why rows need not sum to one (an edit after the softmax)

    def __post_init__(self) -> None:
        types = {"place": Place, "query": Tokens, "key": Tokens, "statistics": HeadStatistics}
        for name, wanted in types.items():
            require_type(f"AttentionMap.{name}", getattr(self, name), wanted)
        require_text("Place.stack", self.stack)
        require_choice("Place.kind", self.kind, ("self", "cross"))
        require_count("Place.layer", self.layer)
        if self.step is not None:
            require_count("Place.step", self.step)
        require_text("AttentionMap.dtype", self.dtype)
        self._check_shapes()
        self._check_pyramids()
        if self.scale is not None and not (isinstance(self.scale, (int, float)) and isfinite(self.scale)):
            raise wrong_value("AttentionMap.scale", self.scale, "finite")
        if self.content == "signed":
            self._check_signed()
        elif self.relaxed is None:
            check_mass(self.place, self.statistics, self.sink_weights, self.tolerance)
            read = self.peek("dense") if self.factors is None else self.factors.peek("keys")
            if not isinstance(read, Later):
                self._check_rows()
        if self.relaxed is not None:
            keep(self, relaxed=as_message("AttentionMap.relaxed", self.relaxed))

    # What there is

    @property
    def stack(self) -> str:
        return self.place.stack

    @property
    def kind(self) -> Kind:
        return self.place.kind

    @property
    def layer(self) -> int:
        return self.place.layer

    @property
    def step(self) -> int | None:
        """The generation step that this map was seen in; None: a whole map."""
        return self.place.step

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
    def name(self) -> str:
        """For a person: decoder layer 3, cross."""
        return str(self.place)

    @property
    def has_weights(self) -> bool:
        return self.peek("dense") is not None or self.factors is not None

    @property
    def has_scores(self) -> bool:
        return self.dense_scores is not None or self.factors is not None

    @property
    def tolerance(self) -> float:
        """How far a row may be from summing to one."""
        return row_tolerance(self.dtype)

    def weights(
        self, head: int | None = None, queries: slice | None = None, keys: slice | None = None
    ) -> NDArray[np.float32]:
        """The weights of a rectangle of one head (query, key), or of all heads (head, query, key)."""
        if head is not None and isinstance(self.peek("dense"), Later):
            rows, columns = span(queries, len(self.query), "query"), span(keys, len(self.key), "key")
            return self.read_head("dense", self.require_head(head))[rows, columns]
        return self._read("weights", self.dense, head, queries, keys)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        """All weights (head, query, key): `numpy.asarray(attention_map)`."""
        return np.array(self.weights(), dtype=dtype, copy=copy)

    def scores(
        self, head: int | None = None, queries: slice | None = None, keys: slice | None = None
    ) -> NDArray[np.float32]:
        """The same rectangle before the softmax: scaled, soft-capped, biased; minus infinity where masked."""
        return self._read("scores", self.dense_scores, head, queries, keys)

    def _read(
        self,
        what: Literal["weights", "scores"],
        dense: NDArray[np.float32] | None,
        head: int | None,
        queries: slice | None,
        keys: slice | None,
    ) -> NDArray[np.float32]:
        rows, columns = span(queries, len(self.query), "query"), span(keys, len(self.key), "key")
        heads = range(self.heads) if head is None else (self.require_head(head),)
        if dense is not None:
            return (dense if head is None else dense[heads[0]])[..., rows, columns]
        factors = self.require_factors(what, head)
        shape = (len(heads), rows.stop - rows.start, columns.stop - columns.start)
        if (size := 4 * prod(shape)) > MOST_BYTES:
            most = MOST_BYTES / 2**30
            raise RecordingError("recording.too_large", size=size / 2**30, shape=str(shape), most=most)
        compute = factors.weights if what == "weights" else factors.scores
        parts = [compute(each, rows, columns).astype(np.float32, copy=False) for each in heads]
        return parts[0] if head is not None else np.stack(parts)

    def require_head(self, head: int) -> int:
        """The head, if there is one of this number."""
        if not isinstance(head, (int, np.integer)) or not 0 <= head < self.heads:
            raise RecordingError("recording.no_head", head=str(head), place=self.place, last=self.heads - 1)
        return int(head)

    def require_factors(self, what: str = "weights", head: int | None = None) -> Factors:
        """The factors, to read this head of (all: None); refuses a map that kept only statistics."""
        if self.factors is None:
            raise RecordingError("recording.not_kept", place=self.place, what=name_term(what), want=what)
        keys = self.factors.peek("keys")
        if isinstance(keys, Later) and self.relaxed is None:
            for each in range(self.heads) if head is None else (head,):
                if each not in keys.checked:
                    self._check_rows(each)
                    keys.checked.add(each)
        return self.factors

    def __repr__(self) -> str:
        heads, queries, keys = self.shape
        backing = "factors" if self.factors is not None else "statistics only"
        backing = "dense" if self.peek("dense") is not None else backing
        return f"AttentionMap({self.name}: {heads} heads, {queries} x {keys}, {backing})"

    # Checks

    def _check_rows(self, only: int | None = None) -> None:
        backing = self.dense, self.factors, self.sink_weights
        check_rows(self.place, self.statistics, *backing, self.tolerance, only)

    def _check_signed(self) -> None:
        if self.dense is None:
            raise RecordingError("recording.signed_without_values", place=self.place)
        if not is_mapped(self.dense) and not np.isfinite(self.dense).all():
            raise RecordingError("recording.not_finite", name=self.place)

    def _check_shapes(self) -> None:
        heads, queries, keys = self.shape
        seen = (self.statistics.queries, self.statistics.keys)
        if seen != (queries, keys):
            raise RecordingError(
                "recording.other_tokens",
                place=self.place,
                seen_queries=seen[0],
                seen_keys=seen[1],
                queries=queries,
                keys=keys,
            )
        matrix: list[Axis] = [("head", heads), ("query", queries), ("key", keys)]
        self.freeze_later("dense", SINGLE, matrix)
        freeze_field(self, "dense_scores", SINGLE, matrix)
        if self.factors is not None:
            if self.factors.shape != self.shape:
                raise wrong_value("AttentionMap.factors", self.factors.shape, "shape", shape=str(self.shape))
            keep(
                self,
                queries=self.factors.peek("queries") if self.queries is None else self.queries,
                keys=self.factors.peek("keys") if self.keys is None else self.keys,
                scale=self.factors.scale if self.scale is None else self.scale,
                sink_weights=self.factors.sink_weights() if self.sink_weights is None else self.sink_weights,
            )
        vectors = {"queries": ("head", queries), "keys": ("key head", keys), "values": ("key head", keys)}
        for name, (which, tokens) in vectors.items():
            axes = [(which, heads if which == "head" else None), ("token", tokens), ("width", None)]
            self.freeze_later(name, FLOATS, axes)
            vector = self.peek(name)
            if vector is not None and (vector.shape[0] == 0 or heads % vector.shape[0]):
                raise RecordingError("recording.uneven_key_heads", heads=heads, key_heads=vector.shape[0])
        freeze_field(self, "sink_weights", SINGLE, matrix[:2])

    def _check_pyramids(self) -> None:
        pyramids = {self.require_head(head): pyramid for head, pyramid in self.pyramids.items()}
        keep(self, pyramids=MappingProxyType(pyramids))
        for pyramid in pyramids.values():
            wanted = tuple(count_pixels(length, pyramid.level) for length in self.shape[1:])
            if pyramid.mean.shape != wanted:
                raise wrong_value("Pyramid.mean", pyramid.mean.shape, "shape", shape=str(wanted))


def span(part: slice | None, length: int, axis: str) -> slice:
    """A slice with its ends filled in; refuses steps and ends beyond the axis."""
    if part is None:
        return slice(0, length)
    try:
        start = 0 if part.start is None else index(part.start)
        stop = length if part.stop is None else index(part.stop)
        if part.step in (None, 1) and 0 <= start <= stop <= length:
            return slice(start, stop)
    except (AttributeError, TypeError):  # a number in place of a slice, or ends that are none
        pass
    raise RecordingError("recording.wrong_slice", axis=name_term(axis), slice=str(part), length=length)
