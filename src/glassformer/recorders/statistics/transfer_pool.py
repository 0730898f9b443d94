"""Background threads that copy results from a GPU and store them.

In:   tasks: fetch statistics, after all kernels of the model are queued; store vectors, meanwhile.
Out:  for each stored array a function that waits for it. Statistics are fetched only after the kernels are
      queued because launching kernels needs the interpreter lock.
"""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

FETCHERS = 4  # threads; allocating and copying keep one busy for as long as a GPU computes
MOST_HELD = 1 << 30  # bytes on the GPU that may wait to be stored

Answer = TypeVar("Answer")


class TransferPool:
    """The threads of one recording."""

    def __init__(self) -> None:
        self._fetchers = ThreadPoolExecutor(FETCHERS)
        self._writer = ThreadPoolExecutor(1)  # one: arrays are stored in the order of the layers
        self._held: deque[tuple[Future[Any], int]] = deque()

    def fetch(self, tasks: Sequence[Callable[[], None]]) -> None:
        """Start all tasks, in order. Exceptions surface when the result is read."""
        for task in tasks:
            self._fetchers.submit(task)

    def store(self, task: Callable[[], Answer], size: int) -> Callable[[], Answer]:
        """Start a task after those before it. Blocks while more than MOST_HELD bytes wait on the GPU."""
        while self._held and size + sum(held for _, held in self._held) > MOST_HELD:
            self._held.popleft()[0].result()
        future = self._writer.submit(task)
        self._held.append((future, size))
        return future.result

    def close(self) -> None:
        """Cancel tasks that have not started, and wait for those that have."""
        for threads in (self._fetchers, self._writer):  # first without waiting: the wait may be interrupted
            threads.shutdown(wait=False, cancel_futures=True)
        for threads in (self._fetchers, self._writer):
            threads.shutdown()
