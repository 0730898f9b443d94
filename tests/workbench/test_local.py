"""The workbench of this machine: jobs, their events, and a worker that may die."""

import asyncio
import threading
import time
from pathlib import Path

import pytest

from glassformer.api.jobs import Event
from glassformer.errors import ApiError
from glassformer.workbench import LocalWorkbench
from workbench.worker_watching import ENDLESS, Ask, Fresh, Wait, is_alive, wait_for_word, worker_of

pytestmark = pytest.mark.slow

LONG = {"model": "zoo/slow", "sequence": "random", "length": 12_000, "want": ["output"]}


def test_events_are_heard_as_they_come_and_end(bench: LocalWorkbench, ask: Ask) -> None:
    async def listen() -> list[str]:
        job = bench.submit(ask(kind="generate", decode={"max_new_tokens": 3}))
        return [event.name async for event in bench.events(job.id)]

    names = asyncio.run(listen())
    assert names.count("step") == 3
    assert names[-1] == "done"


def test_two_listeners_hear_the_same(bench: LocalWorkbench, ask: Ask) -> None:
    async def listen() -> list[list[Event]]:
        job = bench.submit(ask(kind="generate", decode={"max_new_tokens": 3}))

        async def hear() -> list[Event]:
            return [event async for event in bench.events(job.id)]

        return list(await asyncio.gather(hear(), hear()))

    one, other = asyncio.run(listen())
    assert one == other


def test_too_long_is_said(fresh: Fresh, ask: Ask, wait: Wait) -> None:
    bench = fresh(seconds=0.0)
    failed = wait(bench, bench.submit(ask(**ENDLESS)))
    assert (failed.state, failed.code) == ("failed", "too_slow")


def test_too_much_memory_is_said(fresh: Fresh, ask: Ask, wait: Wait) -> None:
    bench = fresh(memory=1 << 30)
    failed = wait(bench, bench.submit(ask(**LONG, layers=1, multiplier=2.0)))
    assert (failed.state, failed.code) == ("failed", "out_of_memory"), failed.message
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
    while bench.slots[0].worker is None:
        time.sleep(0.01)
    first = worker_of(bench)
    assert wait(bench, bench.submit(ask())).state == "done"
    assert worker_of(bench) == first


def test_a_worker_that_has_grown_is_replaced(fresh: Fresh, ask: Ask, wait: Wait) -> None:
    bench = fresh(growth=-(1 << 40))  # whatever it takes, it is too much from the second job on
    assert wait(bench, bench.submit(ask())).state == "done"
    first = worker_of(bench)
    assert wait(bench, bench.submit(ask(text="another"))).state == "done"
    assert wait(bench, bench.submit(ask(text="a third"))).state == "done"
    assert not is_alive(first)


def test_models_that_a_cancelled_or_failed_job_opened_are_no_growth(
    fresh: Fresh, ask: Ask, wait: Wait
) -> None:
    bench = fresh(patience=600.0)
    job = bench.submit(ask(**ENDLESS))
    wait_for_word(bench, job)
    worker = bench.slots[0].worker
    assert worker is not None
    bench.cancel(job.id)
    deadline = time.monotonic() + 300
    while worker.models_size == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    one = worker.models_size
    assert one > 0
    failed = wait(bench, bench.submit(ask(prefix=[1])))  # refused once the second model is open
    assert (failed.state, failed.code) == ("failed", "refused")
    assert worker.models_size > one
