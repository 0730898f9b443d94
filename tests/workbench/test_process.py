"""The worker may crash, be cancelled, take too long or too much: one job fails, and the next one runs."""

import os
import signal
import time
from pathlib import Path

import pytest

from glassformer.workbench.process import make_worker_environment
from texts import text_of
from workbench.worker_watching import ENDLESS, Ask, Fresh, Wait, is_alive, wait_for_word, worker_of

pytestmark = pytest.mark.slow


def test_a_killed_worker_fails_one_job_only(fresh: Fresh, ask: Ask, wait: Wait) -> None:
    bench = fresh()
    job = bench.submit(ask(**ENDLESS))
    wait_for_word(bench, job)
    os.kill(worker_of(bench), signal.SIGKILL)
    failed = wait(bench, job)
    assert (failed.state, failed.code) == ("failed", "crashed")
    assert failed.message is not None
    assert "killed" in text_of(failed.message)
    assert wait(bench, bench.submit(ask())).state == "done"


def test_a_crash_says_which(fresh: Fresh, ask: Ask, wait: Wait) -> None:
    bench = fresh()
    job = bench.submit(ask(**ENDLESS))
    wait_for_word(bench, job)
    os.kill(worker_of(bench), signal.SIGSEGV)
    failed = wait(bench, job)
    assert failed.message is not None
    assert "SIGSEGV" in text_of(failed.message)


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
    bench = fresh(patience=600.0)
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


def test_threads_sleep_while_they_wait_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    assert make_worker_environment(offline=True)["OMP_WAIT_POLICY"] == "passive"
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    assert make_worker_environment(offline=True)["OMP_WAIT_POLICY"] == "active"
    monkeypatch.setenv("RUST_BACKTRACE", "1")
    assert make_worker_environment(offline=True)["RUST_BACKTRACE"] == "0"
