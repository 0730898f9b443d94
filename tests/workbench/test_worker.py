"""The worker process from inside: errors, and what libraries print."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from glassformer.api.jobs import JobRequest
from glassformer.errors import CheckpointError
from glassformer.workbench.worker import _explain
from workbench.worker_watching import is_alive

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), "out_of_memory"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), "out_of_memory"),
        (torch.OutOfMemoryError("of a GPU"), "out_of_memory"),
        (RuntimeError("unable to mmap 8 bytes from file <x>: Cannot allocate memory (12)"), "out_of_memory"),
        (OSError(12, "Cannot allocate memory"), "out_of_memory"),
        (OSError(2, "No such file"), "failed"),
        (RuntimeError("the memory of an LSTM has another size"), "failed"),
        (CheckpointError("No."), "refused"),
        (ZeroDivisionError("by nothing\nat all"), "failed"),
    ],
)
def test_every_error_is_a_sentence(error: Exception, code: str) -> None:
    text, found = _explain(error)
    assert found == code
    assert str(text)
    assert "\n" not in str(text)


def test_the_worker_goes_when_its_parent_is_killed(zoo: Path, tmp_path: Path) -> None:
    code = """
import sys, time
from pathlib import Path
from glassformer.api.jobs import JobRequest
from glassformer.workbench import LocalWorkbench, WorkbenchSettings
zoo, folder = map(Path, sys.argv[1:])
bench = LocalWorkbench(WorkbenchSettings(offline=True), folder=folder, add=lambda *_: "", zoo=zoo)
job = bench.submit(JobRequest(kind="generate", model="zoo/slow", text="the", decode={"max_new_tokens": 1000}))
while not any(event.name == "step" for event in bench.store.events(job.id, 0)):
    time.sleep(0.01)
print(bench.slots[0].worker.id, flush=True)
time.sleep(600)
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", code, str(zoo), str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    with parent, parent.stdout as pipe:
        worker = int(pipe.readline())
        assert is_alive(worker)
        parent.kill()
    end = time.monotonic() + 300
    while is_alive(worker) and time.monotonic() < end:
        time.sleep(0.01)
    assert not is_alive(worker)


@pytest.mark.real_start
def test_what_a_model_prints_stays_out_of_the_messages(zoo: Path, tmp_path: Path) -> None:
    """The worker's stdout carries lines of JSON only, and Ctrl-C is not for it."""
    words = [sys.executable, "-P", "-m", "glassformer.workbench.worker", "--memory", str(1 << 40)]
    source = str(Path(__file__).parents[2] / "src")
    worker = subprocess.Popen(
        [*words, "--loaded", "0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": source},
    )
    request = JobRequest(kind="record", model="zoo/decoder", text="the animal").model_dump()
    task = {"do": "run", "job": "1", "path": str(tmp_path / "x.bundle"), "name": "x", "request": request}
    task |= {"folder": str(zoo / "decoder"), "tagged": True, "languages": [], "tokens": 100, "new_tokens": 9}
    with worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(json.dumps(task).encode() + b"\n")
        worker.stdin.flush()
        first = json.loads(worker.stdout.readline())
        worker.send_signal(signal.SIGINT)
        rest = [first]
        while rest[-1]["say"] == "progress":
            rest.append(json.loads(worker.stdout.readline()))
        worker.stdin.close()
        assert worker.wait(300) == 0
    assert rest[-1]["say"] == "done"
    assert (tmp_path / "x.bundle").is_file()
