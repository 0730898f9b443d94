"""The entry point of the command: `glassformer`, and `python -m glassformer`.

In:   the arguments of a terminal, and its Ctrl-C.
Out:  an exit code. An interrupt at any moment ends with 130 and prints no traceback.
"""

import gc
import os
import signal
import sys
from types import FrameType

IMPORTING = "<frozen importlib._bootstrap>"  # the code that runs while anything is imported
PAUSE = 0.02  # seconds between checks whether an import has ended
INTERRUPTED = 130
COLLECTED_EVERY = 20_000  # new objects (Python: 700): imports make a million that stay


def run() -> int:
    """Run one command."""
    waiting = False
    gc.set_threshold(COLLECTED_EVERY)

    def interrupt(number: int, frame: FrameType | None) -> None:
        """Defer SIGINT until an import ends: an interrupted import makes libraries fail in odd ways."""
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
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback while Python shuts down
        gc.freeze()  # or the last collection would search all of torch for cycles: a quarter of a second


def is_importing(frame: FrameType | None) -> bool:
    """Whether this frame runs inside an import."""
    while frame is not None:
        if frame.f_code.co_filename == IMPORTING:
            return True
        frame = frame.f_back
    return False


if __name__ == "__main__":
    sys.exit(run())
