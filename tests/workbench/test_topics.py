"""The playground through the workbench and its worker process: answers, steps, refusals."""

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from glassformer.api.jobs import Event, Job, JobRequest, Playground
from glassformer.errors import ApiError
from glassformer.lessons.run import run_topic
from glassformer.lessons.schema import TopicResult
from glassformer.lessons.topics import find_topic, read_parameters
from glassformer.messages import literal
from glassformer.workbench import LocalWorkbench, topics

pytestmark = pytest.mark.slow

Ask = Callable[..., JobRequest]
Wait = Callable[..., Job]
Fresh = Callable[..., LocalWorkbench]
ENDLESS: dict[str, Any] = {"kind": "generate", "model": "zoo/slow", "decode": {"max_new_tokens": 1000}}


async def hear(bench: LocalWorkbench, job: Job) -> list[Event]:
    return [event async for event in bench.events(job.id)]


def here(name: str, **given: str) -> TopicResult:
    return run_topic(name, read_parameters(find_topic(name), given))


def test_the_worker_answers_what_the_functions_do(bench: LocalWorkbench) -> None:
    assert isinstance(bench, Playground)
    assert next(iter(bench.topics())).name == "search"
    for name, given in (("lookup", {"keys": "2"}), ("masks", {}), ("order", {"positions": "rotary"})):
        played, expected = bench.play(name, given), here(name, **given)
        assert played.model_copy(update={"seconds": None}) == expected.model_copy(update={"seconds": None})


def test_a_topic_looks_into_a_model_of_the_zoo(bench: LocalWorkbench) -> None:
    played = bench.play("heads", {"text": "the animal was too tired"})
    assert played.model is not None
    assert played.model.startswith("zoo/")


def test_a_refusal_of_the_worker_is_one_of_the_bench(bench: LocalWorkbench) -> None:
    with pytest.raises(ApiError, match="learned positions") as refused:
        bench.play("positions", {"kind": "learned"})
    assert refused.value.status == 422
    with pytest.raises(ApiError, match="from 1 to 4"):
        bench.play("lookup", {"keys": "9"})
    with pytest.raises(ApiError, match="no topic"):
        bench.start_play("nothing", {})
    with pytest.raises(ApiError, match="no steps"):
        bench.start_play("lookup", {})


def test_training_tells_every_step_and_ends_with_the_play(bench: LocalWorkbench) -> None:
    events = asyncio.run(hear(bench, bench.start_play("output", {"steps": "6", "pair": "thanks"})))
    steps = [event.data for event in events if event.name == "step"]
    assert [step["step"] for step in steps] == list(range(7))
    assert all(len(step["rows"]) == 2 and len(step["rows"][0]) == 6 for step in steps)
    assert events[-1].name == "done"
    assert events[-1].data["recording"] is None
    played = TopicResult.model_validate(events[-1].data["play"])
    quiet = here("output", steps="6", pair="thanks")
    assert played.figures == quiet.figures
    assert [step["loss"] for step in steps] == list(played.figures[-1].series[0].values)  # type: ignore[union-attr]


def test_a_play_does_not_wait_behind_a_job(fresh: Fresh, ask: Ask, wait: Wait) -> None:
    bench = fresh()
    job = bench.submit(ask(**ENDLESS))
    with pytest.raises(ApiError, match="model is running") as refused:
        bench.play("lookup", {})
    assert (refused.value.code, refused.value.status) == ("busy", 429)
    bench.cancel(job.id)
    wait(bench, job)
    assert bench.play("lookup", {}).topic == "lookup"
    assert wait(bench, bench.submit(ask())).state == "done"


def test_a_closed_workbench_plays_no_more(fresh: Fresh) -> None:
    bench = fresh()
    bench.close()
    with pytest.raises(ApiError, match="closing"):
        bench.play("lookup", {})
    assert bench.slots[0].worker is None


def test_a_play_whose_worker_was_killed_speaks_of_no_text(
    fresh: Fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise EOFError

    bench = fresh()
    monkeypatch.setattr("glassformer.workbench.local.ask", die)
    monkeypatch.setattr(bench.slots[0], "find_worker", lambda: None)
    monkeypatch.setattr(bench.slots[0], "end_worker", lambda: -9)
    with pytest.raises(ApiError, match="killed, perhaps for lack of memory") as caught:
        bench.play("masks", {})
    assert caught.value.code == "crashed"


def test_the_time_of_a_play_begins_when_the_worker_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that needs longer than a play to import torch is waited for; a play without end is not."""

    class SlowWorker:
        def __init__(self, *words: str) -> None:
            self.words = iter(words)

        def send(self, message: dict[str, Any]) -> None:
            self.job = message["job"]

        def receive(self, seconds: float) -> dict[str, Any]:
            word = next(self.words, "progress of another")
            if word == "failed":
                return {
                    "say": word,
                    "job": self.job,
                    "message": literal("Heard.").to_json(),
                    "code": "refused",
                }
            return {"say": word, "job": self.job if word == "progress" else "another"}

    clock = itertools.count(step=topics.MAX_SECONDS - 1.0)  # what every look at it takes
    monkeypatch.setattr(topics, "time", type("Clock", (), {"monotonic": staticmethod(lambda: next(clock))}))

    def ask(*words: str) -> None:
        topics.ask(SlowWorker(*words), find_topic("lookup"), {}, [], lambda: False)  # type: ignore[arg-type]

    with pytest.raises(ApiError, match="Heard"):
        ask("starting", "starting", "starting", "progress", "failed")
    with pytest.raises(TimeoutError):
        ask("progress", "working", "failed")
