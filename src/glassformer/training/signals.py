"""Being asked to stop: Ctrl-C and SIGTERM let a step end and a checkpoint be written; a second one does not.

In:   signals of the system.
Out:  a flag that the loop looks at between two steps.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Request:
    """Whether somebody asked."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.made = False
        self.say = say

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Hear signals inside this context; afterwards they mean what they meant before."""
        before = {}
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                before[number] = signal.signal(number, self._hear)
        except ValueError:  # not the main thread: whoever runs it listens
            pass
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _hear(self, number: int, _: object) -> None:
        if self.made:
            raise KeyboardInterrupt
        self.made = True
        self.say(f"Asked to stop ({signal.Signals(number).name}): after this step.")
