"""The board of jobs: what waits, what runs, what is heard."""

from collections.abc import Callable

import pytest

from glassformer.api.jobs import JobRequest
from glassformer.errors import ApiError
from glassformer.workbench.jobs import Board, Entry
from glassformer.workbench.models import Model

MODEL = Model("zoo/decoder", None, None)


Ask = Callable[..., JobRequest]


def start(board: Board, ask: Ask) -> Entry:
    board.submit(ask(), MODEL)
    entry = board.take(0.0)
    assert entry is not None
    return entry


def names(board: Board, id: str) -> list[str]:
    return [event.name for event in board.events(id, 0)]


def test_jobs_run_in_their_order(ask: Ask) -> None:
    board = Board(queue=5, kept=5)
    ids = [board.submit(ask(), MODEL).id for _ in range(3)]
    taken = [board.take(0.0) for _ in range(4)]
    assert [entry.id for entry in taken if entry is not None] == ids
    assert taken[3] is None
    assert [job.id for job in board.jobs()] == ids[::-1]


def test_a_full_queue_says_so(ask: Ask) -> None:
    board = Board(queue=2, kept=5)
    start(board, ask)
    board.submit(ask(), MODEL)
    board.submit(ask(), MODEL)
    with pytest.raises(ApiError, match="2 jobs are waiting") as caught:
        board.submit(ask(), MODEL)
    assert (caught.value.code, caught.value.status) == ("queue_full", 429)


def test_an_unknown_job_is_not_there() -> None:
    with pytest.raises(ApiError, match="no such job") as caught:
        Board(queue=2, kept=5).job("x")
    assert caught.value.status == 404


def test_a_job_tells_all_and_then_is_silent(ask: Ask) -> None:
    board = Board(queue=2, kept=5)
    entry = start(board, ask)
    board.progress(entry, "running", 0.5, "1/2")
    assert (board.job(entry.id).stage, board.job(entry.id).share) == ("running", 0.5)
    board.step(entry, {"index": 0})
    board.finish(entry, "recording-1")
    board.fail(entry, "too late", "late")
    board.step(entry, {"index": 1})
    assert names(board, entry.id) == ["progress", "progress", "progress", "step", "done"]
    assert board.events(entry.id, 4)[0].data == {"recording": "recording-1"}
    job = board.job(entry.id)
    assert (job.state, job.recording, job.sentence) == ("done", "recording-1", None)


def test_a_failed_job_says_why(ask: Ask) -> None:
    board = Board(queue=2, kept=5)
    entry = start(board, ask)
    board.fail(entry, "It broke.", "crashed")
    job = board.job(entry.id)
    assert (job.state, job.sentence, job.code) == ("failed", "It broke.", "crashed")
    assert board.events(entry.id, 2)[0].data == {"sentence": "It broke.", "code": "crashed", "zh": None}


def test_a_cancelled_job_never_starts(ask: Ask) -> None:
    board = Board(queue=2, kept=5)
    job = board.submit(ask(), MODEL)
    assert board.cancel(job.id).state == "cancelled"
    assert board.take(0.0) is None
    assert board.cancel(job.id).state == "cancelled"
    assert names(board, job.id) == ["progress", "cancelled"]


def test_cancelling_a_running_job_is_seen_by_who_runs_it(ask: Ask) -> None:
    board = Board(queue=2, kept=5)
    entry = start(board, ask)
    board.cancel(entry.id)
    assert board.is_finished(entry)
    board.finish(entry, "recording-1")
    assert board.job(entry.id).recording is None


def test_old_jobs_are_forgotten(ask: Ask) -> None:
    board = Board(queue=2, kept=2)
    entries = []
    for _ in range(4):
        entries.append(start(board, ask))
        board.finish(entries[-1], "r")
    board.submit(ask(), MODEL)
    known = [job.id for job in board.jobs()]
    assert [entry.id in known for entry in entries] == [False, False, True, True]


def test_closing_cancels_everything(ask: Ask) -> None:
    board = Board(queue=2, kept=5)
    running, waiting = start(board, ask), board.submit(ask(), MODEL)
    board.close()
    assert board.job(running.id).state == board.job(waiting.id).state == "cancelled"
    assert board.take(0.0) is None
    with pytest.raises(ApiError, match="closing"):
        board.submit(ask(), MODEL)


def test_the_same_job_is_found_unless_nothing_came_of_it(ask: Ask) -> None:
    board = Board(queue=5, kept=5)
    hidden = ask(listed=False)
    assert board.find(hidden) is None
    board.submit(ask(), MODEL)  # in the list: another request
    assert board.find(hidden) is None
    first = board.submit(hidden, MODEL)
    assert not first.listed
    assert board.find(hidden) == first
    board.cancel(first.id)
    assert board.find(hidden) is None
    second = board.submit(hidden, MODEL)
    for _ in range(2):
        entry = board.take(0.0)
        assert entry is not None
        board.finish(entry, f"recording-{entry.id}")
    found = board.find(hidden)
    assert found is not None
    assert (found.id, found.recording) == (second.id, f"recording-{second.id}")
