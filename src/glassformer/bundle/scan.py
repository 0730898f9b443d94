"""Every number of a recording looked at, once: for files that come from strangers.

In:   a recording whose arrays may lie in a file; opening it has looked at samples of them only.
Out:  nothing; or a RecordingError that names the array.
"""

from collections.abc import Callable, Iterator

import numpy as np

from glassformer.errors import RecordingError
from glassformer.recording import AttentionMap, Recording
from glassformer.recording.arrays import AnyArray

_PIECE = 1 << 22  # numbers looked at together


def scan(recording: Recording) -> None:
    """Refuse hidden states, vectors, weights and scores that are not finite, and NaN in steps of the pass."""
    for stack, states in recording.hidden.items():
        _require(f"Recording.hidden[{stack!r}]", states, np.isfinite)
    for name, values in recording.trace.items():
        _require(f"Recording.trace[{name!r}]", values, _has_no_nan)  # masked scores are infinite
    for each in recording.maps:
        _scan_map(each)


def _scan_map(attention_map: AttentionMap) -> None:
    for name in ("queries", "keys", "values", "dense"):
        array = getattr(attention_map, name)
        if array is not None:
            _require(f"{attention_map.place.address}: {name}", array, np.isfinite)
    scores = attention_map.dense_scores
    real = attention_map.statistics.rows  # rows of padding may hold anything
    for head in () if scores is None else scores:
        for rows in _split(head):
            if not (head[rows][real[rows]] < np.inf).all():  # minus infinity is a mask
                raise RecordingError("recording.not_finite", name=f"{attention_map.place.address}: scores")


def _require(name: str, array: AnyArray, fits: Callable[[AnyArray], AnyArray]) -> None:
    flat = array.reshape(-1)
    if not all(fits(flat[part]).all() for part in _split(flat)):
        raise RecordingError("recording.not_finite", name=name)


def _has_no_nan(numbers: AnyArray) -> AnyArray:
    return ~np.isnan(numbers)


def _split(array: AnyArray) -> Iterator[slice]:
    """Slices of the first axis, of about _PIECE numbers each."""
    step = max(1, _PIECE // max(1, array[:1].size))
    return (slice(start, start + step) for start in range(0, len(array), step))
