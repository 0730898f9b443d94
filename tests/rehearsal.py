"""A workbench that runs nothing: tests walk it through the stages of a run."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

from glassformer.api.jobs import Event, Job, JobRequest, ModelDescription, Preset, WorkerState
from glassformer.errors import ApiError
from glassformer.messages import Message, literal, message


class Rehearsal:
    """A workbench that runs nothing: it walks through the stages when told to."""

    def __init__(self, made: str) -> None:
        self.made = made
        self.requests: list[JobRequest] = []
        self.stages = ["queued", "loading", "tokenising", "running", "statistics", "saving"]
        self.reached = 0
        self.ends: str | None = None
        self.cancelled = threading.Event()

    def again(self) -> None:
        self.reached, self.ends = 0, None
        self.requests.clear()
        self.cancelled.clear()

    def models(self) -> Sequence[ModelDescription]:
        facts: dict[str, Any] = {
            "layers": 6, "heads": 8, "width": 512, "vocabulary": 8000, "max_tokens": 128, "parameters": 10**7,
            "origin": "zoo", "note": None,
        }  # fmt: skip
        return [
            ModelDescription(
                name="zoo/translator", label="Translator", family="glassformer", shape="encoder-decoder",
                tasks=_titles("translation"), languages=("en", "zh"), **facts,
            ),
            ModelDescription(
                name="zoo/bert", label="BERT", family="bert", shape="encoder",
                tasks=_titles("masked_language_modelling", "classification"), languages=(), **facts,
            ),
        ]  # fmt: skip

    def presets(self) -> Sequence[Preset]:
        phrase = literal("Tom chase Jerry")
        point = literal("Look at the diagonal.")
        return [
            Preset(id="tom", title=phrase, point=point, model="zoo/translator", task="translation",
                   text="Tom chase Jerry", source_language="en", target_language="zh",
                   selection={"view": "heatmap", "head": "1"}),
        ]  # fmt: skip

    def _job(self, state: str = "running") -> Job:
        return Job(
            id="job", kind="record", state=state, stage=self.stages[self.reached], share=0.5, detail="3/6",
            recording=None, model="zoo/translator", created=time.time(),
        )  # fmt: skip

    def submit(self, request: JobRequest, owner: str | None = None) -> Job:
        if request.text and "refuse" in request.text:
            raise ApiError("workbench.queue_full", status=429, count=8)
        self.cancelled.clear()  # a page of the test before may have cancelled its run only now
        self.requests.append(request)
        return self._job("queued")

    def job(self, id: str) -> Job:
        return self._job()

    def jobs(self) -> Sequence[Job]:
        if not self.requests or self.cancelled.is_set():
            return []
        done = self.ends == "done"
        job = self._job("done" if done else "running")
        return [job.model_copy(update={"recording": self.made if done else None})]

    def cancel(self, id: str) -> Job:
        self.cancelled.set()
        return self._job("cancelled")

    async def events(self, id: str) -> AsyncIterator[Event]:
        told = -1
        while not self.cancelled.is_set():
            if told < self.reached:
                told = self.reached
                yield Event(name="progress", data={"stage": self.stages[told], "share": 0.5, "detail": "3/6"})
            if self.ends == "done":
                yield Event(name="done", data={"recording": self.made})
                return
            if self.ends == "failed":
                text = message("workbench.failed.memory").to_json()
                yield Event(name="failed", data={"message": text, "code": "memory"})
                return
            await asyncio.sleep(0.02)
        yield Event(name="cancelled", data={})

    keeps_jobs = False

    def measure_workers(self) -> list[WorkerState]:
        return []

    def warm_up(self) -> None: ...

    def close(self) -> None: ...


def _titles(*tasks: str) -> dict[str, Message]:
    """Tasks as the list of models names them."""
    return {task: message(f"tasks.titles.{task}") for task in tasks}
