"""Things made ahead by a thread while the one before is being used.

In:   an iterator.
Out:  the same things in the same order; what goes wrong in the thread is raised where they are used.
"""

import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

WAIT = 0.1  # seconds until a thread that cannot hand over looks whether anybody is still there


@dataclass(frozen=True, slots=True)
class _Made(Generic[T]):
    thing: T


@dataclass(frozen=True, slots=True)
class _End:
    reason: BaseException | None  # why nothing more comes, if something went wrong


class Producer(Generic[T]):
    """A thread that keeps up to `ahead` things ready."""

    def __init__(self, things: Iterator[T], ahead: int) -> None:
        self.things = things
        self.ready: queue.Queue[_Made[T] | _End] = queue.Queue(maxsize=ahead)
        self.unwanted = threading.Event()
        self.thread = threading.Thread(target=self._work, name="prefetch", daemon=True)

    def _work(self) -> None:
        reason: BaseException | None = None
        try:
            for thing in self.things:
                if not self._hand_over(_Made(thing)):
                    return
        except BaseException as error:  # raised again where the items are read
            reason = error
        self._hand_over(_End(reason))

    def _hand_over(self, thing: _Made[T] | _End) -> bool:
        while not self.unwanted.is_set():
            try:
                self.ready.put(thing, timeout=WAIT)
            except queue.Full:
                continue
            return True
        return False


def prefetch(things: Iterator[T], ahead: int) -> Iterator[T]:
    """The same, up to `ahead` of them made in advance. The thread ends with the iterator."""
    producer = Producer(things, ahead)
    producer.thread.start()
    try:
        while isinstance(made := producer.ready.get(), _Made):
            yield made.thing
        if made.reason is not None:
            raise made.reason
    finally:
        producer.unwanted.set()
        producer.thread.join()
