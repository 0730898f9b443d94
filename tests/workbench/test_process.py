"""The worker may crash, be cancelled, take too long or too much: one job fails, and the next one runs."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from glassformer.api.jobs import Job, JobRequest
from glassformer.errors import ApiError
from glassformer.workbench import LocalWorkbench

Ask = Callable[..., JobRequest]
Wait = Callable[..., Job]
Fresh = Callable[..., LocalWorkbench]

pytestmark = pytest.mark.slow

ENDLESS = {"kind": "generate", "model": "zoo/slow", "decode": {"max_new_tokens": 1000}}
LONG = {"model": "zoo/slow", "sequence": "random", "length": 12_000, "want": ["output"]}


def wait_for_word(bench: LocalWorkbench, job: Job) -> None:
    """Until the job has told its first word, so that it is in the middle of its work."""
    while not any(event.name == "step" for event in bench.store.events(job.id, 0)):
        assert bench.job(job.id).state in ("queued", "running")
        time.sleep(0.01)


def worker_of(bench: LocalWorkbench) -> int:
    assert bench.worker is not None
    return bench.worker.id


def is_alive(process: int) -> bool:
    """Whether a process runs; one that is dead and only waits to be counted does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_killed_worker_fails_one_job_only(fresh: Fresh, ask: Ask, wait: Wait) -> None:
    bench = fresh()
    job = bench.submit(ask(**ENDLESS))
    wait_for_word(bench, job)
    os.kill(worker_of(bench), signal.SIGKILL)
    failed = wait(bench, job)
    assert (failed.state, failed.code) == ("failed", "crashed")
    assert failed.sentence is not None
    assert "killed" in failed.sentence
    assert wait(bench, bench.submit(ask())).state == "done"


def test_a_crash_says_which(fresh: Fresh, ask: Ask, wait: Wait) -> None:
    bench = fresh()
    job = bench.submit(ask(**ENDLESS))
    wait_for_word(bench, job)
    os.kill(worker_of(bench), signal.SIGSEGV)
    failed = wait(bench, job)
    assert failed.sentence is not None
    assert "SIGSEGV" in failed.sentence


def test_a_worker_that_died_between_jobs_is_replaced(fresh: Fresh, ask: Ask, wait: Wait) -> None:
    bench = fresh()
    assert wait(bench, bench.submit(ask())).state == "done"
    first = worker_of(bench)
    os.kill(first, signal.SIGKILL)
    while is_alive(first):
        time.sleep(0.01)
    assert wait(bench, bench.submit(ask())).state == "done"
    assert worker_of(bench) != first


def test_cancelling_stops_at_once_and_keeps_the_worker(fresh: Fresh, ask: Ask, wait: Wait) -> None:
    bench = fresh(patience=60.0)
    job = bench.submit(ask(**ENDLESS))
    wait_for_word(bench, job)
    worker = worker_of(bench)
    assert bench.cancel(job.id).state == "cancelled"
    count = len(bench.store.events(job.id, 0))
    assert wait(bench, bench.submit(ask())).state == "done"
    assert worker_of(bench) == worker
    assert len(bench.store.events(job.id, 0)) == count
    assert bench.store.events(job.id, 0)[-1].name == "cancelled"


def test_a_worker_that_does_not_listen_is_ended(fresh: Fresh, ask: Ask, wait: Wait, folder: Path) -> None:
    bench = fresh(patience=0.0)
    job = bench.submit(ask(**ENDLESS))
    wait_for_word(bench, job)
    worker = worker_of(bench)
    bench.cancel(job.id)
    assert wait(bench, bench.submit(ask())).state == "done"
    assert not is_alive(worker)
    assert not list(folder.glob(f"*{job.id}*"))


def test_a_stopped_worker_is_ended_too(fresh: Fresh, ask: Ask, wait: Wait) -> None:
    bench = fresh(patience=0.2)
    job = bench.submit(ask(**ENDLESS))
    wait_for_word(bench, job)
    os.kill(worker_of(bench), signal.SIGSTOP)
    bench.cancel(job.id)
    assert wait(bench, bench.submit(ask())).state == "done"


def test_too_long_is_said(fresh: Fresh, ask: Ask, wait: Wait) -> None:
    bench = fresh(seconds=0.0)
    failed = wait(bench, bench.submit(ask(**ENDLESS)))
    assert (failed.state, failed.code) == ("failed", "too_slow")


def test_too_much_memory_is_said(fresh: Fresh, ask: Ask, wait: Wait) -> None:
    bench = fresh(memory=1 << 30)
    failed = wait(bench, bench.submit(ask(**LONG, layers=1, multiplier=2.0)))
    assert (failed.state, failed.code) == ("failed", "out_of_memory"), failed.sentence
    assert wait(bench, bench.submit(ask())).state == "done"


def test_a_full_queue_is_said_and_waiting_jobs_can_be_cancelled(fresh: Fresh, ask: Ask, wait: Wait) -> None:
    bench = fresh(queue=2)
    running = bench.submit(ask(**ENDLESS))
    wait_for_word(bench, running)
    waiting = [bench.submit(ask()) for _ in range(2)]
    with pytest.raises(ApiError, match="2 jobs are waiting"):
        bench.submit(ask())
    bench.cancel(waiting[0].id)
    third = bench.submit(ask())
    bench.cancel(running.id)
    assert [wait(bench, job).state for job in (*waiting, third)] == ["cancelled", "done", "done"]


def test_many_clients_at_once(fresh: Fresh, ask: Ask, wait: Wait) -> None:
    bench = fresh(queue=20)
    states: list[str] = []

    def use(number: int) -> None:
        job = bench.submit(ask(sequence="random", length=5, seed=number))
        if number % 3 == 0:
            bench.cancel(job.id)
        states.append(wait(bench, job).state)

    clients = [threading.Thread(target=use, args=(number,)) for number in range(12)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert len(states) == 12
    assert set(states) <= {"done", "cancelled"}
    assert states.count("done") >= 8


def test_closing_leaves_nothing_behind(fresh: Fresh, ask: Ask, folder: Path) -> None:
    bench = fresh()
    job = bench.submit(ask(**ENDLESS))
    wait_for_word(bench, job)
    worker = worker_of(bench)
    bench.close()
    bench.close()
    assert not is_alive(worker)
    assert bench.job(job.id).state == "cancelled"
    assert not list(folder.glob(f"*{job.id}*"))
    with pytest.raises(ApiError, match="closing"):
        bench.submit(ask())


def test_warming_up_starts_a_worker_before_there_is_a_job(fresh: Fresh, ask: Ask, wait: Wait) -> None:
    bench = fresh()
    bench.warm_up()
    while bench.worker is None:
        time.sleep(0.01)
    first = worker_of(bench)
    assert wait(bench, bench.submit(ask())).state == "done"
    assert worker_of(bench) == first


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
print(bench.worker.id, flush=True)
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
