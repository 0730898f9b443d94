"""A worker process seen from outside."""

import time
from collections.abc import Callable
from pathlib import Path

from glassformer.api.jobs import Job, JobRequest
from glassformer.workbench import LocalWorkbench

ENDLESS = {"kind": "generate", "model": "zoo/slow", "decode": {"max_new_tokens": 1000}}
Ask = Callable[..., JobRequest]
Wait = Callable[..., Job]
Fresh = Callable[..., LocalWorkbench]


def wait_for_word(bench: LocalWorkbench, job: Job) -> None:
    """Until the job has told its first word, so that it is in the middle of its work."""
    while not any(event.name == "step" for event in bench.store.events(job.id, 0)):
        assert bench.job(job.id).state in ("queued", "running")
        time.sleep(0.01)


def worker_of(bench: LocalWorkbench) -> int:
    assert bench.slots[0].worker is not None
    return bench.slots[0].worker.id


def is_alive(process: int) -> bool:
    """Whether a process runs; one that is dead and only waits to be counted does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
