"""Differences: one metric of two recordings of the same tokens, subtracted.

In:   two recordings: of two models, two checkpoints, or one model before and after an edit.
Out:  Score, first minus second; or a refusal that says in what the two differ.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.metrics.metric import METRICS, score
from glassformer.metrics.scores import Over, Part, Score
from glassformer.place import name_term
from glassformer.recording import Recording, Tokens


def difference(
    first: Recording, second: Recording, name: str, *, over: Over | None = None, **parameters: Any
) -> Score:
    """A metric of the first recording minus that of the second, at any level the metric has.

    A layer or a model is compared by the heads that have a value in both: a head that an edit ablated has no
    entropy, and leaving it out on one side only would look like a change of all the others.

    Both have the same tokens and maps; `glassformer.comparison` aligns those that have not.
    """
    require_alike(first, second)
    return subtract(first, second, name, over=over, **parameters)


def subtract(
    first: Recording, second: Recording, name: str, *, over: Over | None = None, **parameters: Any
) -> Score:
    """The same of two recordings with the same places and heads, whatever their tokens are."""
    if METRICS[name].unit == "cluster":
        raise InputError("metrics.no_difference", metric=name)
    rolled = over in ("layer", "model") and METRICS[name].rule != "none"
    level = "head" if rolled else over
    left, right = (score(each, name, over=level, **parameters) for each in (first, second))
    if over is not None and rolled:
        left, right = (_keep_heads(*each).roll_up(over) for each in ((left, right), (right, left)))
    parts = tuple(_subtract(a, b) for a, b in zip(left.parts, right.parts, strict=True))
    low, high = left.range
    most = None if low is None or high is None else high - low
    return replace(
        left,
        label=message("metrics.difference", label=left.label),
        parts=parts,
        lower=message("metrics.difference_lower"),
        higher=message("metrics.difference_higher"),
        rule="none",
        range=(None if most is None else -most, most),
        edited=_mark(left.edited, right.edited),
    )


def _mark(first: Message | None, second: Message | None) -> Message | None:
    """Which of two recordings are of edited models."""
    if first is not None and second is not None:
        return message("metrics.edited_both", first=first, second=second)
    if first is not None:
        return message("metrics.edited_first", mark=first)
    return None if second is None else message("metrics.edited_second", mark=second)


def require_alike(first: Recording, second: Recording) -> None:
    """Refuse two recordings whose tokens or maps differ."""
    for side in ("source", "target"):
        _require_same_tokens(side, getattr(first, side), getattr(second, side))
    shapes = [{each.place: each.shape for each in recording.maps} for recording in (first, second)]
    for place in dict.fromkeys([*shapes[0], *shapes[1]]):
        seen = [known.get(place) for known in shapes]
        if seen[0] != seen[1]:
            shapes_here = ["–" if shape is None else str(shape) for shape in seen]
            raise InputError("metrics.other_maps", place=place, first=shapes_here[0], second=shapes_here[1])
    if list(shapes[0]) != list(shapes[1]):
        raise InputError("metrics.other_order")


def _require_same_tokens(side: str, first: Tokens | None, second: Tokens | None) -> None:
    if first is None and second is None:
        return
    counts = [0 if each is None else len(each) for each in (first, second)]
    if first is None or second is None or len(first) != len(second):
        raise InputError("metrics.other_count", side=name_term(side), first=counts[0], second=counts[1])
    for index, pair in enumerate(zip(first.texts, second.texts, strict=True)):
        if pair[0] != pair[1] or first.ids[index] != second.ids[index]:
            raise InputError(
                "metrics.other_token",
                token=index,
                side=name_term(side),
                first=pair[0],
                second=pair[1],
                first_id=first.ids[index],
                second_id=second.ids[index],
            )


def _keep_heads(given: Score, other: Score) -> Score:
    """The score without the heads that have no value in the other."""
    parts = []
    for part, partner in zip(given.parts, other.parts, strict=True):
        assert part.totals is not None
        assert part.counts is not None
        kept = ~np.isnan(partner.values)
        parts.append(replace(part, totals=part.totals * kept, counts=part.counts * kept))
    return replace(given, parts=tuple(parts))


def _subtract(first: Part, second: Part) -> Part:
    reasons = tuple(dict.fromkeys((*first.undefined, *second.undefined)))
    values = np.subtract(first.values, second.values)
    return replace(first, values=values, totals=None, counts=None, undefined=reasons)
