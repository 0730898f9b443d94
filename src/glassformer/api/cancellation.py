"""Cancellation of long computations: they check a flag between two pieces of work.

In:   a flag that is set when the client disconnects; recordings.
Out:  ApiError in the middle of the work once the flag is set; without a flag nothing changes.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import ApiError
from glassformer.recording import AttentionMap, Recording

_FLAG: ContextVar[threading.Event | None] = ContextVar("flag", default=None)


@contextmanager
def cancelled_by(flag: threading.Event) -> Iterator[None]:
    """Work inside this context stops once the flag is set."""
    before = _FLAG.set(flag)
    try:
        yield
    finally:
        _FLAG.reset(before)


def check_cancelled() -> None:
    """Raise ApiError if the request was cancelled."""
    flag = _FLAG.get()
    if flag is not None and flag.is_set():
        raise ApiError("api.cancelled", "gone", 499)


class CancellableMap(AttentionMap):
    """A map that checks for cancellation before it computes weights."""

    __slots__ = ()

    def weights(
        self, head: int | None = None, queries: slice | None = None, keys: slice | None = None
    ) -> NDArray[np.float32]:
        check_cancelled()
        return AttentionMap.weights(self, head, queries, keys)


def make_cancellable(recording: Recording) -> Recording:
    """The same recording with maps that can be cancelled; nothing is copied or validated again."""
    maps = []
    for each in recording.maps:
        twin = object.__new__(CancellableMap)
        for part in fields(AttentionMap):
            object.__setattr__(twin, part.name, getattr(each, part.name))
        maps.append(twin)
    return replace(recording, maps=tuple(maps))
