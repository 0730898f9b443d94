"""Threads that bring home what a GPU computes.

In:   errands: to fetch numbers, when all kernels of a model are queued; to keep vectors, while they are.
Out:  a way to ask for each answer, later. To launch kernels takes an interpreter for itself: threads that
      fetched meanwhile would take more of its time than they save.
"""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

FETCHERS = 4  # threads; new memory and copies keep one busy for as long as a GPU computes
MOST_HELD = 1 << 30  # bytes on the GPU that may wait to be written

Answer = TypeVar("Answer")


class Couriers:
    """The threads of one recording; they go when it does."""

    def __init__(self) -> None:
        self._fetchers = ThreadPoolExecutor(FETCHERS)
        self._keeper = ThreadPoolExecutor(1)  # one: arrays are kept in the order of the layers
        self._held: deque[tuple[Future[Any], int]] = deque()

    def fetch(self, errands: Sequence[Callable[[], None]]) -> None:
        """Begin all, first ones first; what goes wrong is told to who opens what was to be fetched."""
        for errand in errands:
            self._fetchers.submit(errand)

    def keep(self, errand: Callable[[], Answer], size: int) -> Callable[[], Answer]:
        """Begin one after the other; `size` bytes of the GPU are held until then, and too many wait."""
        while self._held and size + sum(held for _, held in self._held) > MOST_HELD:
            self._held.popleft()[0].result()
        future = self._keeper.submit(errand)
        self._held.append((future, size))
        return future.result

    def dismiss(self) -> None:
        """Errands under way end, and those that have not begun never will: nobody asks any more."""
        for threads in (self._fetchers, self._keeper):  # told first: who waits may be interrupted
            threads.shutdown(wait=False, cancel_futures=True)
        for threads in (self._fetchers, self._keeper):
            threads.shutdown()
