"""Stopping by Ctrl-C or SIGTERM: the step ends and a checkpoint is written; a second signal stops at once.

In:   signals of the operating system.
Out:  a flag that the loop checks between two steps.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from glassformer.messages import Message, message


class StopRequest:
    """Whether a signal asked the run to stop."""

    def __init__(self, say: Callable[[Message], None]) -> None:
        self.made = False
        self.signal = ""  # its name
        self.say = say

    @contextmanager
    def handling_signals(self) -> Iterator[None]:
        """Handle the signals inside this context; afterwards the old handlers are back."""
        before = {}
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                before[number] = signal.signal(number, self._handle)
        except ValueError:  # not the main thread
            pass
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _handle(self, number: int, _: object) -> None:
        if self.made:
            raise KeyboardInterrupt
        self.made = True
        self.signal = signal.Signals(number).name
        self.say(message("training.stopping", signal=self.signal))
