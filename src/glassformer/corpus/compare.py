"""Two models over the same texts: what differs head by head, and which heads do the same.

In:   two models that `load` opens, texts, names of metrics.
Out:  Comparison: a table of differences with 95 % intervals over the texts, and heads matched by similarity.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.comparison import HeadMatching, match_heads
from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from glassformer.messages import Message, message
from glassformer.metrics import score
from glassformer.place import Place
from glassformer.recorders.record import record
from glassformer.recording import Recording
from glassformer.runlog.intervals import Estimate, estimate

if TYPE_CHECKING:
    import pandas

METRICS = ("entropy", "nonzero_share", "first_token", "previous_token", "self_token")
_SHOWN = 10


class Row(NamedTuple):
    """One metric of two heads: of the first model, of the second, and the difference over texts."""

    metric: str
    first: tuple[Place, int]
    second: tuple[Place, int]
    mean_first: float
    mean_second: float
    difference: Estimate

    @property
    def certain(self) -> bool:
        """Whether the interval of the difference leaves out zero."""
        half = self.difference.half
        return half is not None and abs(self.difference.mean) > half

    def as_message(self) -> Message:
        """For a person."""
        first, second = (message("metrics.head", place=place, head=head) for place, head in self[1:3])
        mean, half = self.difference.mean, self.difference.half
        if half is None:
            return message(
                "comparison.row_of_one_text", metric=self.metric, first=first, second=second, value=mean
            )
        return message(
            "comparison.row", metric=self.metric, first=first, second=second, value=mean, half=half
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison:
    """Two models over some texts; `rows` is the table, `matching` which heads do the same.

    >>> texts = ["The cat sleeps on the mat.", "A dog barks at the old tree."]
    >>> found = gf.compare(["zoo/bert", "zoo/albert"], texts, metrics=("entropy",))
    >>> found.same_architecture, len(found.rows) == len(found.matching.matches)
    (False, True)
    """

    models: tuple[str, str]
    texts: tuple[str, ...]
    rows: tuple[Row, ...]
    matching: HeadMatching
    same_architecture: bool  # then heads are compared place by place, otherwise with their partners

    def largest(self, count: int = 10) -> list[Row]:
        """The rows whose difference is largest beside its interval."""
        known = [row for row in self.rows if not np.isnan(row.difference.mean)]
        return sorted(known, key=lambda row: -_weigh(row))[:count]

    def frame(self) -> "pandas.DataFrame":
        """The table for pandas, one row for each head and metric."""
        from pandas import DataFrame

        return DataFrame(
            [
                {
                    "metric": row.metric,
                    "first_place": row.first[0].address,
                    "first_head": row.first[1],
                    "second_place": row.second[0].address,
                    "second_head": row.second[1],
                    "first": row.mean_first,
                    "second": row.mean_second,
                    "difference": row.difference.mean,
                    "half_width": row.difference.half,
                    "texts": row.difference.count,
                }
                for row in self.rows
            ]
        )

    def __str__(self) -> str:
        code = "comparison.by_place" if self.same_architecture else "comparison.by_match"
        lines = [
            message("comparison.models", first=self.models[0], second=self.models[1], texts=len(self.texts)),
            message(code),
            *(row.as_message() for row in self.largest(_SHOWN)),
        ]
        return "\n".join([*map(str, lines), str(self.matching)])

    __repr__ = __str__


def compare(
    models: Sequence[Any],
    texts: Sequence[str],
    *,
    metrics: Iterable[str] = METRICS,
    target_language: str | None = None,
    seed: int = 0,
) -> Comparison:
    """Record two models on the same texts and compare them head by head; first minus second everywhere.

    Arguments:
        models: two of whatever `load` opens; more are compared pair by pair.
        texts: at least one; from two on, differences have 95 % intervals (Student's t over the texts).
        metrics: names of metrics of heads.
        target_language: see `record`.
        seed: of the bootstrap and of the shuffled null.

    Heads are compared place by place where both models have the same maps and heads; otherwise each head of
    the first with the head of the second that attends alike (an optimal assignment, with its confidence).
    What a model with a decoder writes, the second one reads as well: both are compared on the same target.
    Recordings are not kept: memory does not grow with the texts.

    >>> texts = ["The cat sleeps on the mat.", "A dog barks at the old tree.", "My sister reads a long book."]
    >>> found = gf.compare(["zoo/bert", "zoo/albert"], texts)
    >>> found.matching.matches[0].first  # a head of zoo/bert, and its partner in zoo/albert
    (Place(stack='encoder', kind='self', layer=0, step=None), 0)
    """
    if isinstance(models, str) or len(models) != 2:
        raise InputError("comparison.two_models", count=1 if isinstance(models, str) else len(models))
    if isinstance(texts, str) or not texts:
        raise InputError("comparison.no_texts")
    opened = [load(each) for each in models]
    names = tuple(metrics)
    tables = list[_Tables]()
    alike = list[list[tuple[Place, int]]]()

    def pass_by() -> Iterator[tuple[Recording, Recording]]:
        for text in texts:
            pair = _record_both(opened[0], opened[1], text, target_language)
            tables.append({name: (_read(pair[0], name), _read(pair[1], name)) for name in names})
            if not alike:
                alike.extend([(part.place, part.heads) for part in each.maps] for each in pair)
            yield pair

    matching = match_heads(pass_by(), seed=seed)
    same = alike[0] == alike[1]
    partners = (
        [((place, head), (place, head)) for place, heads in alike[0] for head in range(heads)]
        if same
        else [(match.first, match.second) for match in matching.matches]
    )
    rows = [row for name in names for row in _compare_metric(name, tables, partners)]
    return Comparison((opened[0].name, opened[1].name), tuple(texts), tuple(rows), matching, same)


_Values = dict[Place, NDArray[np.float64]]  # one number for each head
_Tables = dict[str, tuple[_Values, _Values]]  # by metric, of one text in both models


def _record_both(
    first: LoadedModel, second: LoadedModel, text: str, target_language: str | None
) -> tuple[Recording, Recording]:
    """One text in both models; where both have a decoder, it reads what the first one writes."""
    one = record(first, text, target_language=target_language)
    written = None if one.target is None or second.shape != "encoder-decoder" else one.target.text
    return one, record(second, text, written or None, target_language=target_language)


def _compare_metric(
    name: str,
    tables: Sequence[_Tables],
    partners: Sequence[tuple[tuple[Place, int], tuple[Place, int]]],
) -> Iterable[Row]:
    """The rows of one metric; texts where a head has no value are left out of its mean."""
    for first, second in partners:
        values = [(_find(table[name][0], first), _find(table[name][1], second)) for table in tables]
        known = [pair for pair in values if not np.isnan(pair).any()]
        if not known:
            continue
        means = np.mean(known, axis=0)
        paired = [one - other for one, other in known]
        yield Row(name, first, second, float(means[0]), float(means[1]), estimate(paired))


def _read(recording: Recording, name: str) -> _Values:
    parts = score(recording, name, over="head").parts
    return {part.place: np.array(part.values) for part in parts if part.place is not None}


def _find(values: _Values, head: tuple[Place, int]) -> float:
    """The value of one head; NaN where there is none."""
    place, number = head
    return float(values[place][number]) if place in values and number < len(values[place]) else np.nan


def _weigh(row: Row) -> float:
    """The size of a difference beside its interval; of one text its size alone."""
    half = row.difference.half
    return abs(row.difference.mean) if half is None else abs(row.difference.mean) / (half + 1e-9)
