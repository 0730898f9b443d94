"""Two atlases side by side: which heads have another type, and which scores differ beyond their intervals.

In:   two atlases: of two models, or of two checkpoints of one run.
Out:  `AtlasComparison`.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.atlases.schema import AtlasBody, AtlasCorpus, AtlasHead
from glassformer.messages import Message, message

_SHOWN = 12


class ScoreChange(NamedTuple):
    """One detector's score of two heads whose 95 % intervals do not overlap."""

    detector: str
    first: float
    second: float

    def as_message(self, pair: "HeadPair") -> Message:
        """For a person."""
        scores: dict[str, Any] = {"first": self.first, "second": self.second}
        return message("atlases.change", detector=self.detector, heads=pair.name(), **scores)


class HeadPair(NamedTuple):
    """A head of the first model and its counterpart in the second."""

    first: AtlasHead
    second: AtlasHead
    distance: float  # between their scores: the root of the mean squared difference
    changes: tuple[ScoreChange, ...]  # the largest first

    @property
    def same(self) -> bool:
        """Whether both are the same head of two checkpoints, say."""
        return (self.first.place, self.first.head) == (self.second.place, self.second.head)

    def name(self) -> Message:
        """Which heads these are."""
        first, second = (
            message("atlases.head", place=each.place, head=each.head) for each in (self.first, self.second)
        )
        return first if self.same else message("atlases.heads", first=first, second=second)

    def as_message(self) -> Message:
        """For a person."""
        none = message("atlases.no_type")
        types: dict[str, Any] = {"first": self.first.type or none, "second": self.second.type or none}
        return message("atlases.pair", heads=self.name(), **types)


@dataclass(frozen=True, slots=True, repr=False)
class AtlasComparison:
    """Heads of two models in pairs.

    >>> atlas = gf.open_atlas("zoo/gpt2")
    >>> atlas.compare(atlas).same_architecture
    True
    """

    models: tuple[str, str]
    corpora: tuple[AtlasCorpus, AtlasCorpus]
    same_architecture: bool  # then pairs are heads of the same place, otherwise those that behave most alike
    pairs: tuple[HeadPair, ...]

    @property
    def changed(self) -> tuple[HeadPair, ...]:
        """The pairs with different types, those that differ most first."""
        found = (pair for pair in self.pairs if pair.first.type != pair.second.type)
        return tuple(sorted(found, key=lambda pair: -pair.distance))

    @property
    def same_texts(self) -> bool:
        """Whether both were made from the same texts, as far as their atlases tell."""
        first, second = ((each.name, each.texts + each.skipped) for each in self.corpora)
        return first == second

    def __str__(self) -> str:
        first, second = self.models
        count, changed = len(self.pairs), self.changed
        code = "atlases.by_place" if self.same_architecture else "atlases.by_behaviour"
        lines = [message(code, first=first, second=second, pairs=count, changed=len(changed))]
        if not self.same_texts:
            (one, other) = self.corpora
            given: dict[str, Any] = {"first": one.name, "first_texts": one.texts, "second": other.name}
            lines.append(message("atlases.other_texts", **given, second_texts=other.texts))
        lines += [pair.as_message() for pair in changed[:_SHOWN]]
        largest = sorted(
            ((abs(each.first - each.second), pair, each) for pair in self.pairs for each in pair.changes[:1]),
            key=lambda found: -found[0],
        )
        if largest:
            lines.append(message("atlases.changes"))
        lines += [each.as_message(pair) for _, pair, each in largest[:_SHOWN]]
        return "\n".join(map(str, lines))

    __repr__ = __str__


def compare_atlases(first: AtlasBody, second: AtlasBody) -> AtlasComparison:
    """Pairs of heads: of the same place where both have the same places, or else of the same behaviour."""
    same = first.places == second.places
    if same:
        partners = {(each.place, each.head): each for each in second.heads}
        found = [(each, partners[each.place, each.head]) for each in first.heads]
    else:
        found = _match(first, second)
    pairs = tuple(_pair(one, other) for one, other in found)
    return AtlasComparison((first.model.name, second.model.name), (first.corpus, second.corpus), same, pairs)


def _match(first: AtlasBody, second: AtlasBody) -> list[tuple[AtlasHead, AtlasHead]]:
    """Heads of the same kind of attention with the least sum of distances between their scores."""
    from scipy.optimize import linear_sum_assignment

    pairs = []
    kinds = dict.fromkeys(_find_kind(each) for each in first.heads)
    for kind in kinds:
        ours, theirs = ([each for each in body.heads if _find_kind(each) == kind] for body in (first, second))
        if not theirs:
            continue
        distances = np.array([[_measure(one, other) for other in theirs] for one in ours])
        rows, columns = linear_sum_assignment(distances)
        pairs += [(ours[row], theirs[column]) for row, column in zip(rows, columns, strict=True)]
    return pairs


def _find_kind(head: AtlasHead) -> str:
    return head.place.split(".")[-2]


def _pair(first: AtlasHead, second: AtlasHead) -> HeadPair:
    changes = []
    for name, one in first.scores.items():
        other = second.scores.get(name)
        if one is not None and other is not None and (one.low > other.high or other.low > one.high):
            changes.append(ScoreChange(name, one.mean, other.mean))
    changes.sort(key=lambda change: -abs(change.first - change.second))
    return HeadPair(first, second, _measure(first, second), tuple(changes))


def _measure(first: AtlasHead, second: AtlasHead) -> float:
    """The distance of two heads: over the detectors that measured both."""
    shared = [
        one.mean - other.mean
        for name, one in first.scores.items()
        if one is not None and (other := second.scores.get(name)) is not None
    ]
    differences: NDArray[np.float64] = np.array(shared)
    return float(np.sqrt(np.mean(differences**2))) if shared else 1.0
