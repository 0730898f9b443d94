"""Attention maps from what a model reports about itself.

In:   the reports of an architecture off the interface (see fallback.py) and the tokens on both sides.
Out:  `AttentionMap`s of weights alone: such a model shows neither scores nor vectors. Which keys its mask
      allows is not said either; a key counts as allowed to a query when some head gave it any weight.
      Numbers that are no weights are left out and named.
"""

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from glassformer.errors import RecordingError
from glassformer.place import Place
from glassformer.recorders.edits.active import ActiveEdits
from glassformer.recorders.edits.edit import find_relaxed
from glassformer.recorders.maps import Axes
from glassformer.recorders.store import Array, as_numbers
from glassformer.recorders.transformers.fallback import Report, are_weights, find_globals, spread_band
from glassformer.recorders.transformers.layers import Stacks
from glassformer.recording import AttentionMap, measure

ABSENT = ("scores", "queries", "keys", "values")
INFERRED = "off the attention interface: a key counts as allowed where some head gave it weight"


def make_maps(
    outputs: Any,
    reports: Iterable[Report],
    stacks: Stacks,
    axes: Axes,
    want: Collection[str],
    edits: ActiveEdits | None = None,
) -> tuple[list[AttentionMap], list[str]]:
    """The maps, and what has to be said about them."""
    edits = ActiveEdits() if edits is None else edits
    maps: list[AttentionMap] = []
    notes = [INFERRED]
    absent = [word for word in ABSENT if word in want]
    if absent:
        notes.append(f"off the attention interface: {', '.join(absent)} cannot be seen")
    left_out: dict[str, None] = {}
    for place, weights in reports:
        place = stacks.rename(place)
        if weights.shape[0] != 1:
            raise RecordingError(
                f"{place} reports {weights.shape[0]} maps for one text. It cannot be recorded."
            )
        whole = weights[0]  # (head, query, key)
        rows = axes.rows(place, whole.shape[1])
        real = torch.from_numpy(rows).to(whole.device)
        if place.kind == "self" and whole.shape[2] != whole.shape[1]:
            found = find_globals(outputs, place)
            whole = spread_band(whole, None if found is None else found[0], real, place)
        relaxed = find_relaxed(edits.edits, place)
        if relaxed is None and not are_weights(whole, real):
            left_out[f"{place.stack} {place.kind}"] = None
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
        notes.append(f"left out, because what the model reports there is no weights: {', '.join(left_out)}")
    if not maps:
        raise RecordingError(
            "What the model reports as attention does not sum to one in any layer; there is nothing to "
            "record. Try another version of transformers."
        )
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
