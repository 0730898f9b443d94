"""Jobs on disk: what a server knows of those before it."""

import sqlite3
from pathlib import Path

import pytest

from glassformer.api.jobs import PlayRequest
from glassformer.messages import message
from glassformer.workbench.job_table import FILE, JobTable, open_table
from glassformer.workbench.jobs import Entry, JobStore
from glassformer.workbench.models import Model
from workbench.worker_watching import Ask

MODEL = Model("zoo/decoder", None, None)


def open_store(folder: Path, kept: int = 5) -> JobStore:
    return JobStore(queue=5, kept=kept, table=JobTable(folder))


def kill(store: JobStore) -> None:
    """The server ends without a word."""
    assert store.table is not None
    store.table.close()


def test_what_waits_and_runs_is_queued_again_in_its_order(tmp_path: Path, ask: Ask) -> None:
    store = open_store(tmp_path)
    edit = {"kind": "ablate", "stack": "decoder", "attention": "self", "layer": 0, "head": 1}
    requests = [ask(), ask(text="other", edits=[edit]), PlayRequest(topic="masks", parameters={"n": 3})]
    ids = [store.submit(request, MODEL).id for request in requests]
    store.take(0.0)
    store.close()
    assert store.job(ids[0]).state == "queued"  # whoever asks at the last moment
    assert store.events(ids[0], 0)[-1].data["stage"] == "queued"
    again = open_store(tmp_path)
    taken = [again.take(0.0) for _ in range(3)]
    assert [(each.id, each.request) for each in taken if each] == list(zip(ids, requests, strict=True))
    again.close()


def test_how_jobs_ended_is_known(tmp_path: Path, ask: Ask) -> None:
    store = open_store(tmp_path)
    ids = [store.submit(ask(), MODEL).id for _ in range(3)]
    first, second = store.take(0.0), store.take(0.0)
    assert first is not None
    assert second is not None
    store.finish(first, "a recording")
    store.fail(second, message("workbench.failed.memory"), "out_of_memory")
    store.cancel(ids[2])
    before = [store.job(id) for id in ids]
    store.close()
    again = open_store(tmp_path)
    assert [again.job(id) for id in ids] == before
    assert [again.events(id, 0) for id in ids] == [store.events(id, 0)[-1:] for id in ids]
    assert again.count_unfinished() == 0
    again.close()


def test_an_end_is_written_down_before_anybody_is_told(tmp_path: Path, ask: Ask) -> None:
    """Whoever is told may fail."""

    def fail(_: Entry) -> None:
        raise RuntimeError

    store = JobStore(queue=5, kept=5, table=JobTable(tmp_path), on_end=fail)
    id = store.submit(ask(), MODEL).id
    with pytest.raises(RuntimeError):
        store.cancel(id)
    kill(store)
    again = open_store(tmp_path)
    assert again.job(id).state == "cancelled"
    again.close()


def test_a_job_during_which_the_server_was_killed_twice_is_not_started_again(
    tmp_path: Path, ask: Ask
) -> None:
    store = open_store(tmp_path)
    id = store.submit(ask(), MODEL).id
    for _ in range(2):
        assert store.job(id).state == "queued"
        store.take(0.0)
        kill(store)
        store = open_store(tmp_path)
    assert (store.job(id).state, store.job(id).code) == ("failed", "interrupted")
    kill(store)
    again = open_store(tmp_path)
    assert again.job(id).state == "failed"
    again.close()


def test_a_restart_during_a_job_is_no_fault_of_it(tmp_path: Path, ask: Ask) -> None:
    store = open_store(tmp_path)
    id = store.submit(ask(), MODEL).id
    for _ in range(3):
        store.take(0.0)
        store.close()
        store = open_store(tmp_path)
    assert store.job(id).state == "queued"
    store.close()


def test_forgotten_jobs_leave_the_table(tmp_path: Path, ask: Ask) -> None:
    store = open_store(tmp_path, kept=1)
    for _ in range(3):
        store.cancel(store.submit(ask(), MODEL).id)
    store.submit(ask(), MODEL)
    store.close()
    again = open_store(tmp_path)
    assert [job.state for job in again.jobs()] == ["queued", "cancelled"]
    again.close()


def test_one_server_at_a_time_has_the_table(tmp_path: Path) -> None:
    table = open_table(tmp_path)
    assert table is not None
    assert open_table(tmp_path) is None
    table.close()
    again = open_table(tmp_path)
    assert again is not None
    again.close()


def test_damage_costs_jobs_and_not_the_server(
    tmp_path: Path, ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE).write_bytes(b"no database" * 1000)
    store = open_store(tmp_path)
    ids = [store.submit(ask(), MODEL).id for _ in range(2)]
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute('UPDATE jobs SET request = \'{"kind": "later"}\' WHERE id = ?', (ids[0],))
    kill(store)
    store.submit(ask(), MODEL)  # the disk is gone: it runs all the same
    assert "could not be used" in caplog.text
    again = open_store(tmp_path)
    assert [job.id for job in again.jobs()] == ids[1:]
    again.close()
