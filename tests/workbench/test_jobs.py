"""The store of jobs: what waits, what runs, what is heard."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from huggingface_hub import constants

from glassformer.api.jobs import JobRequest, PlayRequest
from glassformer.errors import ApiError
from glassformer.messages import message
from glassformer.workbench.jobs import Entry, JobStore
from glassformer.workbench.models import Model

MODEL = Model("zoo/decoder", None, None)


Ask = Callable[..., JobRequest]


def start(store: JobStore, ask: Ask) -> Entry:
    store.submit(ask(), MODEL)
    entry = store.take(0.0)
    assert entry is not None
    return entry


def names(store: JobStore, id: str) -> list[str]:
    return [event.name for event in store.events(id, 0)]


def test_jobs_run_in_their_order(ask: Ask) -> None:
    store = JobStore(queue=5, kept=5)
    ids = [store.submit(ask(), MODEL).id for _ in range(3)]
    taken = [store.take(0.0) for _ in range(4)]
    assert [entry.id for entry in taken if entry is not None] == ids
    assert taken[3] is None
    assert [job.id for job in store.jobs()] == ids[::-1]


def test_jobs_form_a_tree_by_parent_and_prefix(ask: Ask) -> None:
    store = JobStore(queue=5, kept=5)
    store.submit(ask(), MODEL)
    edit = {"kind": "ablate", "stack": "decoder", "attention": "self", "layer": 0, "head": 1}
    edited = store.submit(ask(edits=[edit], parent="first"), MODEL)
    branch = store.submit(ask(kind="generate", parent="first", prefix=[5, 7]), MODEL)
    play = store.submit(PlayRequest(topic="masks", parameters={}), MODEL)
    assert (edited.parent, edited.prefix) == ("first", None)
    assert (branch.parent, branch.prefix) == ("first", (5, 7))
    assert [job.parent for job in store.jobs()] == [None, "first", "first", None]
    assert (play.parent, play.prefix) == (None, None)


def test_a_full_queue_says_so(ask: Ask) -> None:
    store = JobStore(queue=2, kept=5)
    start(store, ask)
    store.submit(ask(), MODEL)
    store.submit(ask(), MODEL)
    with pytest.raises(ApiError, match="2 jobs are waiting") as caught:
        store.submit(ask(), MODEL)
    assert (caught.value.code, caught.value.status) == ("queue_full", 429)


def test_an_unknown_job_is_not_there() -> None:
    with pytest.raises(ApiError, match="no such job") as caught:
        JobStore(queue=2, kept=5).job("x")
    assert caught.value.status == 404


def test_a_job_tells_all_and_then_is_silent(ask: Ask) -> None:
    store = JobStore(queue=2, kept=5)
    entry = start(store, ask)
    store.progress(entry, "running", 0.5, "1/2")
    assert (store.job(entry.id).stage, store.job(entry.id).share) == ("running", 0.5)
    store.step(entry, {"index": 0})
    store.finish(entry, "recording-1")
    store.fail(entry, message("workbench.failed.memory"), "late")
    store.step(entry, {"index": 1})
    assert names(store, entry.id) == ["progress", "progress", "progress", "step", "done"]
    assert store.events(entry.id, 4)[0].data == {"recording": "recording-1"}
    job = store.job(entry.id)
    assert (job.state, job.recording, job.message) == ("done", "recording-1", None)


def test_a_failed_job_says_why(ask: Ask) -> None:
    store = JobStore(queue=2, kept=5)
    entry = start(store, ask)
    why = message("workbench.worker.crashed", signal="SIGSEGV")
    store.fail(entry, why, "crashed")
    job = store.job(entry.id)
    assert (job.state, job.code) == ("failed", "crashed")
    assert job.message == why
    sent = {"code": "workbench.worker.crashed", "parameters": {"signal": "SIGSEGV"}, "default": None}
    data = store.events(entry.id, 2)[0].data
    assert data == {"code": "crashed", "message": sent}


def test_a_cancelled_job_never_starts(ask: Ask) -> None:
    store = JobStore(queue=2, kept=5)
    job = store.submit(ask(), MODEL)
    assert store.cancel(job.id).state == "cancelled"
    assert store.take(0.0) is None
    assert store.cancel(job.id).state == "cancelled"
    assert names(store, job.id) == ["progress", "cancelled"]


def test_cancelling_a_running_job_is_seen_by_who_runs_it(ask: Ask) -> None:
    store = JobStore(queue=2, kept=5)
    entry = start(store, ask)
    store.cancel(entry.id)
    assert store.is_stopped(entry)
    store.finish(entry, "recording-1")
    assert store.job(entry.id).recording is None


def test_old_jobs_are_forgotten(ask: Ask) -> None:
    store = JobStore(queue=2, kept=2)
    entries = []
    for _ in range(4):
        entries.append(start(store, ask))
        store.finish(entries[-1], "r")
    store.submit(ask(), MODEL)
    known = [job.id for job in store.jobs()]
    assert [entry.id in known for entry in entries] == [False, False, True, True]


def test_closing_cancels_everything(ask: Ask) -> None:
    store = JobStore(queue=2, kept=5)
    running, waiting = start(store, ask), store.submit(ask(), MODEL)
    store.close()
    assert store.job(running.id).state == store.job(waiting.id).state == "cancelled"
    assert store.take(0.0) is None
    with pytest.raises(ApiError, match="closing"):
        store.submit(ask(), MODEL)


def test_the_same_job_is_found_unless_nothing_came_of_it(ask: Ask) -> None:
    store = JobStore(queue=5, kept=5)
    hidden = ask(listed=False)
    assert store.find(hidden, bool) is None
    store.submit(ask(), MODEL)  # in the list: another request
    assert store.find(hidden, bool) is None
    first = store.submit(hidden, MODEL)
    assert not first.listed
    assert store.find(hidden, bool) == first
    store.cancel(first.id)
    assert store.find(hidden, bool) is None
    second = store.submit(hidden, MODEL)
    for _ in range(2):
        entry = store.take(0.0)
        assert entry is not None
        store.finish(entry, f"recording-{entry.id}")
        store.release(entry)
    found = store.find(hidden, bool)
    assert found is not None
    assert (found.id, found.recording) == (second.id, f"recording-{second.id}")
    assert store.find(hidden, lambda recording: recording != found.recording) is None  # removed since


def test_what_a_job_asked_for_is_forgotten_once_nobody_runs_it(ask: Ask) -> None:
    """A hundred jobs are remembered: with vectors of megabytes they took gigabytes."""
    store = JobStore(queue=5, kept=5)
    waiting = store.submit(ask(), MODEL)
    entry = store._entries[waiting.id]
    store.cancel(waiting.id)
    assert entry.request is None
    running = start(store, ask)
    store.release(running)
    assert running.request is not None
    store.cancel(running.id)
    assert running.request is not None  # whoever runs it may still look
    store.release(running)
    assert running.request is None
    assert store.job(running.id).model == MODEL.name


def test_a_failed_job_leaves_a_line_with_its_cause_and_hides_folders_of_the_machine(
    ask: Ask, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    store = JobStore(queue=5, kept=5, hidden=(tmp_path / "models",))
    entry = start(store, ask)
    cache = f"{constants.HF_HUB_CACHE}/models--gpt2/snapshots/x"
    reason = f"cannot read {cache}, {tmp_path}/models/tiny/config.json"
    store.fail(entry, message("workbench.failed.unknown", reason=reason), "failed")
    assert "read …/models--gpt2/snapshots/x, models/tiny/config.json" in str(store.job(entry.id).message)
    assert str(constants.HF_HUB_CACHE) not in str(store.job(entry.id).message)
    assert "models--gpt2" in str(store.job(entry.id).message)
    [line] = caplog.messages
    assert entry.id in line
    assert cache in line


@dataclass(eq=False)
class Fake:
    """Somebody who runs jobs."""

    now: int

    def rank(self, _: Entry) -> int:
        return self.now


def test_of_several_who_wait_the_best_placed_gets_the_job(ask: Ask) -> None:
    store = JobStore(queue=2, kept=5)
    store.submit(ask(), MODEL)
    good, poor, occupied = Fake(2), Fake(1), Fake(-1)
    store._idle.append(good)  # waits in another thread
    assert store.take(0.0, poor) is None
    assert store.take(0.0, occupied) is None
    store._idle.remove(good)
    assert store.take(0.0, poor) is not None
    store.submit(ask(), MODEL)
    store._idle.append(occupied)
    assert store.take(0.0, poor) is not None


def test_people_take_turns_and_are_told_their_place() -> None:
    store = JobStore(20, 20)
    model = Model("zoo/tiny", None, None)

    def submit(owner: str) -> str:
        return store.submit(JobRequest(kind="record", model="zoo/tiny", text="x"), model, owner).id

    many = [submit("greedy") for _ in range(4)]
    late = [submit("late"), submit("late")]
    assert [store.job(id).position for id in (*many, *late)] == [0, 2, 4, 5, 1, 3]
    order = []
    while (entry := store.take(0)) is not None:
        order.append(entry.id)
        store.finish(entry, None)
        if len(order) == 1:
            newest = submit("new")  # never served: before those who were
    assert order == [many[0], late[0], newest, many[1], late[1], many[2], many[3]]
    assert store.job(submit("late")).wait is not None  # jobs have ended: it is known how long they take
    only = JobStore(20, 20)
    ids = [only.submit(JobRequest(kind="record", model="m", text="x"), model).id for _ in range(3)]
    assert [only.take(0).id for _ in ids] == ids  # type: ignore[union-attr]
    assert only.job(ids[0]).position is None


def test_a_job_waits_as_long_as_others_of_its_kind_and_model_took(monkeypatch: pytest.MonkeyPatch) -> None:
    store, now = JobStore(20, 20), 1000.0
    monkeypatch.setattr("glassformer.workbench.jobs.time.monotonic", lambda: now)

    def submit(model: str) -> str:
        return store.submit(JobRequest(kind="record", model=model, text="x"), Model(model, None, None)).id

    for model, seconds in (("slow", 60.0), ("slow", 100.0), ("quick", 2.0)):
        submit(model)
        entry = store.take(0)
        assert entry is not None
        now += seconds
        store.finish(entry, None)
    ids = [submit(model) for model in ("slow", "quick", "slow", "new", "quick")]
    assert [store.job(id).wait for id in ids] == [0.0, 80.0, 82.0, 162.0, 216.0]  # 54: the mean of all three
    store.take(0)
    now += 30
    assert [store.job(id).wait for id in ids[1:3]] == [50.0, 52.0]
    now += 170  # 200 by now: nobody knows when it ends
    assert [store.job(id).wait for id in ids[1:3]] == [200.0, 202.0]


def test_models_of_one_persons_jobs_take_no_more_memory_together_than_allowed() -> None:
    store = JobStore(20, 20, model_bytes=4_000)

    def submit(owner: str | None, parameters: int | None) -> str:
        described: Any = None if parameters is None else SimpleNamespace(parameters=parameters)
        request = JobRequest(kind="record", model="m", text="x")
        return store.submit(request, Model("m", Path("m"), described), owner).id

    greedy = [submit("greedy", each) for each in (400, 700, 600, None)]
    others = [submit(None, 900), submit(None, 900), submit("late", None)]
    taken = [entry for _ in range(9) if (entry := store.take(0)) is not None]
    assert {entry.id for entry in taken} == {greedy[0], greedy[2], *others}  # 1,600 + 2,400 bytes of 4,000
    for entry in taken:
        store.finish(entry, None)
    assert [store.take(0).id] == [greedy[1]]  # type: ignore[union-attr]
    assert store.take(0) is None  # of the last one nobody knows the size: it runs alone
    store.cancel(greedy[1])
    assert [store.take(0).id] == [greedy[3]]  # type: ignore[union-attr]
