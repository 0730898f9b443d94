"""What a metric says: numbers with their caption, their places and the reason wherever there is no number.

In:   totals and counts per head and row, from a metric.
Out:  Score; `roll_up` to heads, layers and the whole model; `pool` of the scores of several texts.

    value = sum of totals / sum of counts                  (rule "mean")
    value = largest total                                  (rule "maximum")

The sums run over the rows of a head, the heads of a layer, the layers of a model: so averages are weighted by
rows at every level. A count of zero leaves the value undefined, which is NaN, and `undefined` says why.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from glassformer.deprecated import accept_layer_first
from glassformer.errors import GlassformerError, InputError
from glassformer.messages import Message, as_message, message
from glassformer.place import Place, as_place, match_places, name_term
from glassformer.recording import Kind

if TYPE_CHECKING:
    import pandas

Over = Literal["query", "head", "token", "pair", "layer", "model"]
Rule = Literal["mean", "maximum", "none"]  # how values are rolled up
Numbers = NDArray[np.float64]

LEVELS: tuple[Over, ...] = ("query", "head", "layer", "model")  # each can be rolled up into those after it


class UndefinedError(GlassformerError):
    """Raised by a metric that has no value for a map; the score then shows the reason instead of a number."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What a head metric finds in a map: for each head and row, or for each head, a total and a count."""

    totals: NDArray[Any]  # (head, query) or (head,)
    counts: NDArray[Any]  # the same shape
    undefined: Message | str | tuple[str, ...] = "metrics.no_row"  # why counts add up to zero: codes or texts

    @property
    def reasons(self) -> tuple[Message, ...]:
        given = self.undefined if isinstance(self.undefined, tuple) else (self.undefined,)
        return tuple(map(as_message, given))


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The values of one place; NaN where undefined.

    >>> recording = gf.record("zoo/bert", "The cat sleeps on the mat.")
    >>> part = gf.score(recording, "entropy").part(layer=-1)
    >>> str(part.place), part.values.shape
    ('encoder layer 5, self', (8,))
    """

    place: Place | None  # None: the whole model
    axes: tuple[str, ...]  # of the values: ("head",), ("head", "query"), ("query", "key") …
    values: Numbers
    totals: Numbers | None = None  # the two that values follow from, where they can be rolled up
    counts: Numbers | None = None
    undefined: tuple[Message, ...] = ()  # why some values are NaN
    labels: tuple[tuple[str, ...], ...] = ()  # names along each axis, where numbers would not do

    def __post_init__(self) -> None:
        for name in ("values", "totals", "counts"):
            array = getattr(self, name)
            if array is not None:
                view = np.asarray(array, dtype=np.float64).view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    @classmethod
    def from_sums(
        cls,
        place: Place | None,
        axes: tuple[str, ...],
        totals: NDArray[Any],
        counts: NDArray[Any],
        rule: Rule,
        undefined: tuple[Message, ...],
    ) -> "Part":
        """The part whose values are totals / counts, or totals where the rule is the maximum."""
        totals, counts = np.asarray(totals, dtype=np.float64), np.asarray(counts, dtype=np.float64)
        known = counts > 0
        divisor = counts if rule == "mean" else np.ones_like(counts)
        values = np.full(totals.shape, np.nan)
        np.divide(totals, divisor, out=values, where=known)
        return cls(place, axes, values, totals, counts, () if known.all() else undefined)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Score:
    """One metric of one recording, part by part.

    >>> recording = gf.record("zoo/bert", "The cat sleeps on the mat.")
    >>> found = gf.score(recording, "entropy")
    >>> found.values.shape  # (layer, head)
    (6, 8)
    >>> found.part("encoder", layer=-1).values  # of the heads of one layer
    array([...])
    >>> found.roll_up("model").value
    1.9...
    """

    name: str
    label: Message
    caption: Message
    unit: str
    range: tuple[float | None, float | None]  # None: no bound
    over: Over
    rule: Rule
    parts: tuple[Part, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    lower: Message | None = None  # what a low value means
    higher: Message | None = None
    edited: Message | None = None  # that the recording, or one of two, is of an edited model

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))

    @property
    def undefined(self) -> tuple[Message, ...]:
        """Every reason for which some value is missing."""
        return _collect(self.parts)

    @property
    def value(self) -> float:
        """The one number of a score that has one: of the whole model, or of a single layer."""
        if len(self.parts) != 1 or self.parts[0].values.ndim:
            raise InputError("metrics.many_values", metric=self.name, over=name_term(self.over))
        return float(self.parts[0].values)

    @property
    def values(self) -> Numbers:
        """All values in one array: (part, …) by `parts`; those of the whole model as they are."""
        if len(self.parts) == 1 and self.parts[0].place is None:
            return self.parts[0].values
        if len({part.values.shape for part in self.parts}) != 1:
            raise InputError("metrics.uneven_parts", metric=self.name)
        return np.stack([part.values for part in self.parts])

    @accept_layer_first
    def part(
        self, stack: Place | str | None = None, kind: Kind = "self", layer: int = 0, step: int | None = None
    ) -> Part:
        """The part of one map: by its stack, its place or its address; a negative layer counts from the end.

        Without a stack, the part of the only stack that has one.
        """
        places = [part.place for part in self.parts if part.place is not None]
        found = match_places(places, stack, kind, layer, step)
        if len(found) != 1:
            code = "metrics.several_parts" if found else "metrics.no_part"
            if stack is None:
                anywhere = message("metrics.any_stack")
                asked = message("place.map", stack=anywhere, layer=layer, kind=name_term(kind))
                raise InputError(code, metric=self.name, place=asked, known=places)
            place = as_place(stack, kind, layer, step)
            raise InputError(code, metric=self.name, place=place, known=places)
        return next(part for part in self.parts if part.place == found[0])

    def frame(self) -> "pandas.DataFrame":
        """All values as a pandas table, one a row with its place."""
        from glassformer.metrics.tables import make_frame

        return make_frame(self)

    def roll_up(self, over: Over) -> "Score":
        """The same score per head, per layer or for the whole model."""
        if over == self.over:
            return self
        sums = all(part.totals is not None and part.counts is not None for part in self.parts)
        later = LEVELS[LEVELS.index(self.over) + 1 :] if self.over in LEVELS else ()
        if over not in later or self.rule == "none" or not sums:
            code = "metrics.wrong_level" if over not in later else "metrics.no_roll_up"
            raise InputError(code, metric=self.name, over=name_term(self.over), wanted=name_term(over))
        return replace(self, over=over, parts=tuple(_roll_up(self.parts, over, self.rule)))

    def __repr__(self) -> str:
        lines = [f"{self.label} ({self.name}) over {self.over}, {self.unit}"]
        for part in self.parts[:12]:
            place = message("metrics.whole_model") if part.place is None else part.place
            shown = f"{float(part.values):.4g}" if part.values.ndim == 0 else _spell(part.values)
            lines.append(f"  {place}: {shown}")
        if len(self.parts) > 12:
            lines.append(f"  … {len(self.parts) - 12} more")
        if self.undefined:
            lines.append(f"  nan: {' '.join(map(str, self.undefined))}")
        return "\n".join(lines)


def pool(scores: Iterable[Score]) -> Score:
    """The score of several texts together: totals and counts of each place are added up.

    >>> texts = ["The cat sleeps.", "The dog barks."]
    >>> gf.pool(gf.score(gf.record("zoo/bert", text), "entropy") for text in texts).values.shape
    (6, 8)
    """
    given = list(scores)
    if not given:
        raise InputError("metrics.nothing_to_pool")
    first = given[0]
    strange = next((each for each in given if (each.name, each.over) != (first.name, first.over)), None)
    if strange is not None:
        raise InputError(
            "metrics.pool_of_several",
            metric=first.name,
            over=name_term(first.over),
            other=strange.name,
            other_over=name_term(strange.over),
        )
    if first.rule == "none" or first.over not in LEVELS[1:]:
        raise InputError("metrics.no_pool", metric=first.name, over=name_term(first.over))
    parts = [part for each in given for part in each.parts]
    return replace(first, parts=tuple(_roll_up(parts, first.over, first.rule)))


def _roll_up(parts: Sequence[Part], over: Over, rule: Rule) -> Iterable[Part]:
    """Groups of parts, added up; where a layer's whole map was kept, its generation steps are left out."""
    whole = {part.place for part in parts if part.place is not None and part.place.step is None}
    groups: dict[Place | None, list[Part]] = {}
    for part in parts:
        layer = None if part.place is None else part.place._replace(step=None)
        if part.place == layer or layer not in whole:
            groups.setdefault(None if over == "model" else layer, []).append(part)
    axes = ("head",) if over == "head" else ()
    for place, group in groups.items():
        reduced = [_reduce(part, len(axes), rule) for part in group]
        if len({totals.shape for totals, _ in reduced}) > 1:
            raise InputError("metrics.uneven_heads", place=place)
        totals = _combine(np.stack([totals for totals, _ in reduced]), rule)
        counts = np.sum([counts for _, counts in reduced], axis=0)
        yield Part.from_sums(place, axes, totals, counts, rule, _collect(group))


def _reduce(part: Part, kept: int, rule: Rule) -> tuple[Numbers, Numbers]:
    """Totals and counts of a part with only its first `kept` axes left."""
    assert part.totals is not None
    assert part.counts is not None
    shape = (*part.totals.shape[:kept], -1)
    totals = np.moveaxis(part.totals.reshape(shape), -1, 0)
    counts = np.moveaxis(part.counts.reshape(shape), -1, 0)
    return _combine(totals, rule), counts.sum(axis=0)


def _combine(totals: Numbers, rule: Rule) -> Numbers:
    """The first axis added up, or its largest; totals without a count are zero, and none is below."""
    return totals.sum(axis=0) if rule == "mean" else totals.max(axis=0, initial=0.0)


def _collect(parts: Iterable[Part]) -> tuple[Message, ...]:
    """Each reason once, in order."""
    return tuple(dict.fromkeys(reason for part in parts for reason in part.undefined))


def _spell(values: Numbers) -> str:
    if values.ndim == 1 and len(values) <= 16:
        return " ".join(f"{value:.4g}" for value in values)
    return " x ".join(str(length) for length in values.shape) + " values"
