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
    """Somebody cancelled the job; no `except Exception` on the way may keep this."""


class JobReporter:
    """What a job says while it runs; it is also where a job notices that it was cancelled."""

    def __init__(self, job: str, pipe: BinaryIO, stopped: set[str]) -> None:
        self.job = job
        self.pipe = pipe
        self.stopped = stopped
        self.generating = False  # words come one by one, and layers need not be told
        self._last = 0.0  # time of the last report

    def check(self) -> None:
        """Stop here if somebody wants us to."""
        if self.job in self.stopped:
            raise StoppedError

    def progress(self, stage: Stage, share: float | None = None, detail: str | None = None) -> None:
        """How far it is; while the model runs, not more often than a person can see."""
        self.check()
        now = time.monotonic()
        if stage not in BUSY or share == 0 or now - self._last > QUIET:
            self._last = now
            self.send("progress", stage=stage, share=share, detail=detail)

    def step(self, data: dict[str, Any]) -> None:
        """One word that was written."""
        self.check()
        self.send("step", data=data)

    def send(self, what: str, **more: Any) -> None:
        """One line."""
        line = json.dumps({"say": what, "job": self.job, **more}, allow_nan=False)
        self.pipe.write(line.encode() + b"\n")
        self.pipe.flush()
