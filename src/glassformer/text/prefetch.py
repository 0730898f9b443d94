"""Items made ahead by a thread while the one before is being used.

In:   an iterator.
Out:  the same items in the same order; an exception of the thread is raised where its item is read.
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

_END = object()


def prefetch(items: Iterator[T], ahead: int) -> Iterator[T]:
    """The same, up to `ahead` of them made in advance. The thread ends with the iterator."""
    with ThreadPoolExecutor(1, "prefetch") as pool:
        pending = deque(pool.submit(next, items, _END) for _ in range(ahead))
        try:
            while (item := pending.popleft().result()) is not _END:
                pending.append(pool.submit(next, items, _END))
                yield item  # type: ignore[misc]
        finally:
            pool.shutdown(cancel_futures=True)
