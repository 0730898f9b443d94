"""Attention maps from what a model reports about itself.

In:   the reports of an architecture off the interface (see fallback.py) and the tokens on both sides.
Out:  `AttentionMap`s of weights alone: such a model reports neither scores nor vectors, nor which keys its
      mask allows; a key counts as allowed to a query when some head gave it any weight. Reports that are not
      weights are left out and named.
"""

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from glassformer.errors import RecordingError
from glassformer.messages import Message, message
from glassformer.place import Place, name_term
from glassformer.recorders.edits.active import ActiveEdits
from glassformer.recorders.edits.edit import find_relaxed
from glassformer.recorders.maps import Axes
from glassformer.recorders.store import Array, as_numbers
from glassformer.recorders.transformers.fallback import (
    Report,
    are_weights,
    describe_group,
    find_globals,
    spread_band,
)
from glassformer.recorders.transformers.layers import Stacks
from glassformer.recording import AttentionMap, measure

ABSENT = ("scores", "queries", "keys", "values")


def make_maps(
    outputs: Any,
    reports: Iterable[Report],
    stacks: Stacks,
    axes: Axes,
    want: Collection[str],
    edits: ActiveEdits | None = None,
) -> tuple[list[AttentionMap], list[Message]]:
    """The maps, and notes on them."""
    edits = ActiveEdits() if edits is None else edits
    maps: list[AttentionMap] = []
    notes = [message("recorders.notes.allowed_inferred")]
    absent = [name for name in ABSENT if name in want]
    if absent:
        notes.append(message("recorders.notes.not_reported", names=list(map(name_term, absent))))
    left_out: dict[Message, None] = {}
    for place, weights in reports:
        place = stacks.rename(place)
        if weights.shape[0] != 1:
            raise RecordingError("recorders.reports.several_texts", place=place, count=weights.shape[0])
        whole = weights[0]  # (head, query, key)
        rows = axes.rows(place, whole.shape[1])
        real = torch.from_numpy(rows).to(whole.device)
        if place.kind == "self" and whole.shape[2] != whole.shape[1]:
            found = find_globals(outputs, place)
            whole = spread_band(whole, None if found is None else found[0], real, place)
        relaxed = find_relaxed(edits.edits, place)
        if relaxed is None and not are_weights(whole, real):
            left_out[describe_group(place.stack, place.kind)] = None
            continue
        numbers = as_numbers(whole)
        maps.append(
            AttentionMap(
                stack=place.stack,
                layer=place.layer,
                kind=place.kind,
                query=axes.queries(place, numbers.shape[1]),
                key=axes.keys(place, numbers.shape[2]),
                statistics=measure(numbers, _find_allowed(numbers, place, edits), rows),
                dense=numbers if "weights" in want else None,
                dtype=str(weights.dtype).removeprefix("torch."),
                relaxed=relaxed,
            )
        )
    if left_out:
        notes.append(message("recorders.notes.not_weights", places=list(left_out)))
    if not maps:
        raise RecordingError("recorders.reports.no_weights")
    return maps, notes


def _find_allowed(weights: Array, place: Place, edits: ActiveEdits) -> NDArray[np.bool_]:
    """Which keys (head, query, key) a mask allows, as far as weights tell; edited heads tell nothing."""
    edited = sorted(edits.replaced.get(place, ()))
    seen = np.delete(weights, edited, axis=0).max(axis=0, initial=0.0) > 0  # (query, key)
    allowed: NDArray[np.bool_] = np.repeat(seen[None], len(weights), axis=0)
    for head in edited:
        allowed[head] |= weights[head] > 0  # an edit may put weight anywhere
    for at in edits.hidden.get(place, ()):
        allowed[at[1:]] = False
    return allowed
