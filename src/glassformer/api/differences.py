"""Differences as recordings: the id `FIRST~SECOND` is the first recording minus the second.

In:   two ids, and recordings by their ids.
Out:  Difference; those used last are kept, up to a number of bytes. Its recording has signed maps, so that
      every route about a recording answers about a difference, too; metrics are subtracted.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace

from glassformer.api.cancellation import check_cancelled, make_cancellable
from glassformer.api.cards import estimate_bytes
from glassformer.comparison.difference import Difference, make_difference
from glassformer.errors import ApiError
from glassformer.recording import Recording

SEPARATOR = "~"
MOST_SPLITS = 8  # of one id; the name of a run may contain the sign, too
_PAUSE = 0.1  # seconds between two looks whether a request that waits was cancelled


def split_id(id: str) -> Iterator[tuple[str, str]]:
    """Every way to read an id as those of two recordings."""
    parts = id.split(SEPARATOR)
    for place in range(1, len(parts) if len(parts) <= MOST_SPLITS + 1 else 0):
        first, second = SEPARATOR.join(parts[:place]), SEPARATOR.join(parts[place:])
        if first and second:
            yield first, second


@dataclass(frozen=True, slots=True)
class _Kept:
    difference: Difference
    size: int  # bytes of the difference itself; its two recordings are counted where they are open


class Differences:
    """Differences by the ids of their recordings. Safe to use from several threads.

    Each is computed once, however many requests wait for it, and no lock is held meanwhile. Beyond `most`
    bytes the least recently used are dropped; the newest one always stays.
    """

    def __init__(self, get: Callable[[str], Recording], most: int) -> None:
        self._get = get
        self._most = most
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()  # least recently used first
        self._computed: dict[tuple[str, str], Future[Difference]] = {}  # those under way
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """Bytes of all that are kept."""
        with self._lock:
            return sum(each.size for each in self._kept.values())

    def is_ready(self, pair: tuple[str, str]) -> bool:
        """Whether a difference is kept: nothing has to be computed for it."""
        with self._lock:
            return pair in self._kept

    def find(self, pair: tuple[str, str]) -> Difference:
        """The first recording minus the second."""
        while True:
            first, second = (self._get(each) for each in pair)  # also where it is kept: one may be gone
            with self._lock:
                kept = self._kept.get(pair)
                if kept is not None and kept.difference.first is first and kept.difference.second is second:
                    self._kept.move_to_end(pair)
                    return kept.difference
                future = self._computed.get(pair)
                other = future is not None
                if future is None:
                    future = self._computed[pair] = Future()
            found = _wait(future) if other else self._compute(pair, first, second, future)
            if found is not None:
                return found

    def release(self, id: str) -> None:
        """Drop the differences of a recording that is closed or removed."""
        with self._lock:
            for pair in [each for each in self._kept if id in each]:
                del self._kept[pair]

    def clear(self) -> None:
        """Drop all of them."""
        with self._lock:
            self._kept.clear()

    def _compute(
        self, pair: tuple[str, str], first: Recording, second: Recording, future: Future[Difference]
    ) -> Difference:
        try:
            made = make_difference(make_cancellable(first), make_cancellable(second))
            made = replace(made, first=first, second=second)
        except BaseException as error:
            with self._lock:
                del self._computed[pair]
            future.set_exception(error)
            raise
        kept = _Kept(made, estimate_bytes(made.recording))
        with self._lock:
            del self._computed[pair]
            self._kept[pair] = kept
            self._kept.move_to_end(pair)
            size = sum(each.size for each in self._kept.values())
            while size > self._most and len(self._kept) > 1:
                size -= self._kept.popitem(last=False)[1].size
        future.set_result(made)
        return made


def _wait(future: Future[Difference]) -> Difference | None:
    """What another request computes; None where that one was cancelled."""
    while True:
        check_cancelled()
        try:
            return future.result(_PAUSE)
        except TimeoutError:
            if future.done():
                raise
        except ApiError as error:
            if error.code != "gone":
                raise
            return None
