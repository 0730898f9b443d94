"""What a job reports while it runs: progress, steps, results; and whether it was cancelled.

In:   the id of a job, a pipe to the server, the set of jobs that were cancelled.
Out:  lines of JSON in the pipe.
"""

import json
import time
from typing import Any, BinaryIO

from glassformer.api.jobs import Stage

BUSY = ("running", "statistics")  # stages with many reports
QUIET = 0.05  # seconds between two reports of a busy stage


class StoppedError(BaseException):
    """The job was cancelled; a BaseException, so that no `except Exception` catches it."""


class JobReporter:
    """Reports of one job; every report also checks whether the job was cancelled."""

    def __init__(self, job: str, pipe: BinaryIO, stopped: set[str]) -> None:
        self.job = job
        self.pipe = pipe
        self.stopped = stopped
        self.generating = False  # tokens are reported one by one, and layers are not
        self._last = 0.0  # time of the last report
        self._stage: Stage | None = None  # that it told

    def check(self) -> None:
        """Raise StoppedError if the job was cancelled."""
        if self.job in self.stopped:
            raise StoppedError

    def progress(self, stage: Stage, share: float | None = None, detail: str | None = None) -> None:
        """Report progress; in a busy stage at most every QUIET seconds, except at its start and end."""
        self.check()
        now = time.monotonic()
        if stage not in BUSY or stage != self._stage or share in (0, 1) or now - self._last > QUIET:
            self._last, self._stage = now, stage
            self.send("progress", stage=stage, share=share, detail=detail)

    def step(self, data: dict[str, Any]) -> None:
        """One generated token, or one step of a lesson."""
        self.check()
        self.send("step", data=data)

    def send(self, what: str, **more: Any) -> None:
        """Send one line of JSON."""
        line = json.dumps({"say": what, "job": self.job, **more}, allow_nan=False)
        self.pipe.write(line.encode() + b"\n")
        self.pipe.flush()
