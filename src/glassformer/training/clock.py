"""How much of its time a run has used, over all its sittings.

In:   the minutes that a recipe allows, the seconds that were used before this sitting.
Out:  the share that is gone: 1 when the time is up, always 0 where there is no limit.
"""

import time


class Clock:
    """Starts when it is made."""

    def __init__(self, minutes: float | None, used: float = 0.0) -> None:
        self.limit = None if minutes is None else 60 * minutes
        self._start = time.monotonic() - used

    @property
    def seconds(self) -> float:
        """Used so far."""
        return time.monotonic() - self._start

    @property
    def gone(self) -> float:
        """The share of the time that is gone."""
        return 0.0 if self.limit is None else min(1.0, self.seconds / self.limit)
