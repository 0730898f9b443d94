"""Work that can be stopped: long computations ask, between two pieces, whether somebody still waits.

In:   a flag that whoever waits may set; recordings.
Out:  a refusal in the middle of the work, once the flag is set. Without a flag nothing changes.
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
    """Inside, work stops once the flag is set."""
    before = _FLAG.set(flag)
    try:
        yield
    finally:
        _FLAG.reset(before)


def check_cancelled() -> None:
    """Stop here, if nobody waits any more."""
    flag = _FLAG.get()
    if flag is not None and flag.is_set():
        raise ApiError("api.cancelled", "gone", 499)


class CancellableMap(AttentionMap):
    """A map that asks before it computes weights."""

    __slots__ = ()

    def weights(
        self, head: int | None = None, queries: slice | None = None, keys: slice | None = None
    ) -> NDArray[np.float32]:
        check_cancelled()
        return AttentionMap.weights(self, head, queries, keys)


def make_cancellable(recording: Recording) -> Recording:
    """The same recording; reading its weights can be stopped. Nothing is copied or checked again."""
    maps = []
    for each in recording.maps:
        twin = object.__new__(CancellableMap)
        for part in fields(AttentionMap):
            object.__setattr__(twin, part.name, getattr(each, part.name))
        maps.append(twin)
    return replace(recording, maps=tuple(maps))
