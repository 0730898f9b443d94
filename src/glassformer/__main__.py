"""The door of the command: `glassformer`, and `python -m glassformer`.

In:   the words of a terminal, and its Ctrl-C.
Out:  an exit code. From the first moment an interrupt ends in 130 and in silence, never in a traceback.
"""

import os
import signal
import sys
from types import FrameType

IMPORTING = "<frozen importlib._bootstrap>"  # the code that runs while anything is imported
PAUSE = 0.02  # seconds until it is looked at again whether an import is over
INTERRUPTED = 130


def run() -> int:
    """Run one command."""
    waiting = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        """An import is not torn apart, for libraries turn that into riddles: it ends first, or we do."""
        nonlocal waiting
        if not is_importing(frame) or not hasattr(signal, "setitimer"):
            raise KeyboardInterrupt
        if waiting and number == signal.SIGINT:  # pressed again
            os._exit(INTERRUPTED)
        waiting = True
        signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, PAUSE)

    signal.signal(signal.SIGINT, interrupt)
    try:
        from glassformer.cli import main

        return main()
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # whatever still has to end, ends in silence


def is_importing(frame: FrameType | None) -> bool:
    """Whether this code runs because something is being imported."""
    while frame is not None:
        if frame.f_code.co_filename == IMPORTING:
            return True
        frame = frame.f_back
    return False


if __name__ == "__main__":
    sys.exit(run())
