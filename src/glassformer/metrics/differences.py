"""Differences: one metric of two recordings of the same tokens, subtracted.

In:   two recordings: of two models, two checkpoints, or one model before and after an edit.
Out:  Score, first minus second; or a refusal that says in what the two differ.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from glassformer.errors import InputError
from glassformer.metrics.metric import METRICS, score
from glassformer.metrics.scores import Over, Part, Phrase, Score
from glassformer.recording import Recording, Tokens

_DO = "Record both with the same text and tokenizer, from models of one shape."


def difference(
    first: Recording, second: Recording, name: str, *, over: Over | None = None, **parameters: Any
) -> Score:
    """A metric of the first recording minus that of the second, at any level the metric has."""
    if METRICS[name].unit == "cluster":
        raise InputError(
            f"{name} gives names, not amounts, so there is no difference. Wanted another metric. "
            "Compare 'head_divergence'."
        )
    require_alike(first, second)
    left, right = (score(each, name, over=over, **parameters) for each in (first, second))
    parts = tuple(_subtract(a, b) for a, b in zip(left.parts, right.parts, strict=True))
    low, high = left.range
    most = None if low is None or high is None else high - low
    label = left.wording.label
    wording = replace(left.wording, label=Phrase(f"{label.english}, difference", f"{label.chinese}之差"))
    return replace(
        left, wording=wording, parts=parts, rule="none", range=(None if most is None else -most, most)
    )


def require_alike(first: Recording, second: Recording) -> None:
    """Refuse two recordings whose tokens or maps differ."""
    for side in ("source", "target"):
        _require_same_tokens(side, getattr(first, side), getattr(second, side))
    shapes = [{each.place: each.shape for each in recording.maps} for recording in (first, second)]
    for place in dict.fromkeys([*shapes[0], *shapes[1]]):
        seen = [known.get(place) for known in shapes]
        if seen[0] != seen[1]:
            words = ["no such map" if shape is None else f"(head, query, key) {shape}" for shape in seen]
            raise InputError(
                f"The first recording has {words[0]} for {place}, the second {words[1]}. "
                f"Wanted the same maps. {_DO}"
            )
    if list(shapes[0]) != list(shapes[1]):
        raise InputError(f"The two recordings have their maps in another order. Wanted the same. {_DO}")


def _require_same_tokens(side: str, first: Tokens | None, second: Tokens | None) -> None:
    if first is None and second is None:
        return
    counts = ["no" if each is None else str(len(each)) for each in (first, second)]
    if first is None or second is None or len(first) != len(second):
        raise InputError(
            f"The first recording has {counts[0]} {side} tokens, the second {counts[1]}. "
            f"Wanted the same tokens. {_DO}"
        )
    for index, pair in enumerate(zip(first.texts, second.texts, strict=True)):
        if pair[0] != pair[1] or first.ids[index] != second.ids[index]:
            raise InputError(
                f"Token {index} of the {side} is {pair[0]!r} ({first.ids[index]}) in the first recording, "
                f"{pair[1]!r} ({second.ids[index]}) in the second. Wanted the same tokens. {_DO}"
            )


def _subtract(first: Part, second: Part) -> Part:
    reasons = tuple(dict.fromkeys((*first.undefined, *second.undefined)))
    values = np.subtract(first.values, second.values)
    return replace(first, values=values, totals=None, counts=None, undefined=reasons)
