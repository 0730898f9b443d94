"""Threads that bring home what a GPU computes, while the model still runs.

In:   errands, as soon as the kernels of a layer are queued.
Out:  a way to ask for each answer, later. Errands wait for the GPU and copy, and leave the interpreter to
      who launches kernels; what costs that (checks, maps) is left to whoever asks.
"""

from collections import deque
from collections.abc import Callable
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

    def fetch(self, errand: Callable[[], Answer]) -> Callable[[], Answer]:
        """Begin as soon as a thread is free; the answer waits for the end, and tells what went wrong."""
        return self._fetchers.submit(errand).result

    def keep(self, errand: Callable[[], Answer], size: int) -> Callable[[], Answer]:
        """The same, one after the other; `size` bytes of the GPU are held until then, and too many wait."""
        while self._held and size + sum(held for _, held in self._held) > MOST_HELD:
            self._held.popleft()[0].result()
        future = self._keeper.submit(errand)
        self._held.append((future, size))
        return future.result

    def dismiss(self) -> None:
        """All errands are done."""
        self._fetchers.shutdown()
        self._keeper.shutdown()
