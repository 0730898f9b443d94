"""Several workers: one that dies delays nobody else; and what a new server does with old jobs."""

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from glassformer.api.jobs import Job
from glassformer.workbench import LocalWorkbench, WorkbenchSettings, open_table
from glassformer.workbench.jobs import JobStore
from glassformer.workbench.models import Model
from glassformer.workbench.slot import WorkerSlot
from workbench.worker_watching import ENDLESS, Ask, Fresh, Wait, is_alive, wait_for_word

pytestmark = pytest.mark.slow
PATIENCE = 300  # seconds, reached only by what fails


def halt(bench: LocalWorkbench, job: Job) -> int:
    """Stop the process of a job in the middle of it, so that it does not end; the number of its slot."""
    wait_for_word(bench, job)
    number = next(n for n, slot in enumerate(bench.slots) if slot.using.locked())
    worker = bench.slots[number].worker
    assert worker is not None
    os.kill(worker.id, signal.SIGSTOP)
    return number


def test_a_killed_worker_delays_no_other(fresh: Fresh, ask: Ask, wait: Wait) -> None:
    bench = fresh(jobs=2, queue=5)
    halted = bench.submit(ask(**ENDLESS))
    other = bench.slots[1 - halt(bench, halted)]
    assert wait(bench, bench.submit(ask())).state == "done"  # beside it
    doomed = bench.submit(ask(**ENDLESS))
    wait_for_word(bench, doomed)
    assert other.worker is not None
    os.kill(other.worker.id, signal.SIGKILL)
    failed = wait(bench, doomed)
    assert (failed.state, failed.code) == ("failed", "crashed")
    assert bench.job(halted.id).state == "running"
    assert wait(bench, bench.submit(ask())).state == "done"  # by a new process
    assert [state.device for state in bench.measure_workers()] == ["cpu", "cpu"]


def test_lessons_use_a_worker_that_is_free(fresh: Fresh, ask: Ask) -> None:
    bench = fresh(jobs=2)
    endless = bench.submit(ask(**ENDLESS))
    halt(bench, endless)
    assert bench.play("lookup", {}).topic == "lookup"
    assert bench.job(endless.id).state == "running"


def test_a_new_server_goes_on_where_the_last_one_ended(
    zoo: Path, tmp_path: Path, ask: Ask, wait: Wait
) -> None:
    def open_bench() -> LocalWorkbench:
        def keep(path: Path, *_: object) -> str:
            return path.replace(tmp_path / f"{path.parent.name}.bundle").name

        settings = WorkbenchSettings(offline=True)
        return LocalWorkbench(settings, folder=tmp_path, add=keep, zoo=zoo, table=open_table(tmp_path))

    bench = open_bench()
    endless, waiting = bench.submit(ask(**ENDLESS)), bench.submit(ask())
    gone = bench.submit(ask(text="the model is removed meanwhile"))
    wait_for_word(bench, endless)
    worker = bench.slots[0].worker
    bench.close()
    assert worker is not None
    assert not is_alive(worker.id)
    entry = bench.store._entries[gone.id]
    database = open_table(tmp_path)
    assert database is not None
    text = entry.request.model_copy(update={"model": "zoo/removed"}).model_dump_json()
    database._ask("UPDATE jobs SET request = ? WHERE id = ?", text, gone.id)
    database.close()
    again = open_bench()
    try:
        wait_for_word(again, endless)  # without anybody's asking
        again.cancel(endless.id)
        done: Job = wait(again, waiting)
        assert (done.state, done.created) == ("done", waiting.created)
        assert done.recording is not None
        assert (tmp_path / done.recording).exists()
        assert (wait(again, gone).state, again.job(gone.id).code) == ("failed", "failed")
    finally:
        again.close()


class Answering:
    """A worker that is done at once, and that nobody can measure between two jobs."""

    alive, models, models_size, gpu_memory, first_memory = True, (), 0, 0, None
    job = ""

    def send(self, message: dict[str, Any]) -> None:
        self.job = message["job"]

    def receive(self, seconds: float) -> dict[str, Any]:
        return {"job": self.job, "say": "done"}

    def memory(self) -> int:
        raise OSError("its machine does not answer")

    def end(self) -> None:
        return None


def test_a_worker_that_cannot_be_started_or_measured_leaves_the_queue_running(
    tmp_path: Path, ask: Ask
) -> None:
    tried, kept = threading.Event(), threading.Semaphore(0)

    def start_worker(device: str | None) -> Any:
        if not tried.is_set():
            tried.set()
            raise OSError("no process to be had")
        return Answering()

    def keep(entry: object, path: Path) -> None:
        kept.release()

    store = JobStore(queue=5, kept=5)
    slot = WorkerSlot(
        store, WorkbenchSettings(), tmp_path, None, start_worker, lambda entry, _: {"job": entry.id}, keep
    )
    slot.warm_up()
    assert tried.wait(PATIENCE)
    for _ in range(2):  # after a worker that did not start, and after one that was not measured
        store.submit(ask(), Model("zoo/decoder", None, None))
        assert kept.acquire(timeout=PATIENCE)
    slot.close()
    store.close()
    slot.join(PATIENCE)


def test_a_thread_that_has_ended_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = threading.Semaphore(0)
    monkeypatch.setattr(WorkerSlot, "_process_queue", lambda self: runs.release())
    nothing: Any = None
    slot = WorkerSlot(
        JobStore(queue=5, kept=5), WorkbenchSettings(), tmp_path, None, nothing, nothing, nothing
    )
    for _ in range(2):
        slot.start()
        slot.join(PATIENCE)
        assert runs.acquire(timeout=PATIENCE)
