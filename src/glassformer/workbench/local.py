"""The workbench of this machine: a queue, and slots for worker processes with the models.

In:   requests of the page; a folder for bundles, and a function that adds finished ones to the library.
Out:  jobs, which slots (slot.py) run. With a table (job_table.py) they outlive the server.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from glassformer.api.effects import MeasureRequest
from glassformer.api.inputs import InputStore
from glassformer.api.jobs import (
    LAST_EVENTS,
    Event,
    Job,
    JobRequest,
    ModelDescription,
    PlayRequest,
    Preset,
    WorkerState,
)
from glassformer.engine.ray_cluster import RayEngine
from glassformer.errors import ApiError
from glassformer.lessons.schema import Topic, TopicResult
from glassformer.lessons.topics import find_topic, read_parameters, read_topics
from glassformer.weights.hub import ZOO
from glassformer.workbench.job_table import JobTable
from glassformer.workbench.jobs import Entry, JobStore
from glassformer.workbench.models import Model, ModelCatalog
from glassformer.workbench.policy import ModelPolicy
from glassformer.workbench.presets import list_presets
from glassformer.workbench.process import WorkerProcess
from glassformer.workbench.remote import RayWorker
from glassformer.workbench.requests import check_measurement, check_request, describe_job
from glassformer.workbench.settings import WorkbenchSettings
from glassformer.workbench.slot import Worker, WorkerSlot
from glassformer.workbench.topics import ask, describe_task

# Takes a finished bundle into the library, for its owner, and gives its id.
Add = Callable[[Path, JobRequest | MeasureRequest, str | None], str]
Locate = Callable[[str], Path]  # the bundle of a recording in the library; ApiError where there is none

ANY_MODEL = ModelPolicy()
PATIENCE = 10.0  # seconds that workers have to end
TURN = 10.0  # seconds that a play waits for those before it
LOOK = 0.05  # seconds between two looks for a free worker
POLL = 0.25  # seconds between checks whether the store is closed, while a job has no events


class LocalWorkbench:
    """See `Workbench` in api/jobs.py. Methods may be called from any thread and answer at once."""

    def __init__(
        self,
        settings: WorkbenchSettings,
        *,
        folder: Path,
        add: Add,
        locate: Locate | None = None,
        zoo: Path = ZOO,
        table: JobTable | None = None,
        policy: ModelPolicy = ANY_MODEL,
    ) -> None:
        """Without `locate` nothing can branch off from a recording; without `table` jobs end with this."""
        self.settings = settings
        self.folder = folder
        self.add = add
        self.locate = locate
        self.catalog = ModelCatalog(zoo, settings.models, offline=settings.offline, runs=settings.runs)
        self.policy = policy
        hidden = (folder, *self.catalog.folders)
        self.inputs = InputStore(folder)
        self.store = JobStore(
            settings.queue, settings.kept, table, hidden, settings.model_bytes, self._forget_input
        )
        self.keeps_jobs = table is not None
        self.slots = [
            WorkerSlot(self.store, settings, folder, device, self._start_worker, self._describe, self._keep)
            for device in settings.list_devices()
        ]
        self._closing = threading.Event()
        self._cluster = RayEngine(settings.address) if settings.engine == "ray" else None
        if self.store.count_unfinished():
            self._start()

    # Methods for the server

    def models(self) -> Sequence[ModelDescription]:
        here = [model.description for model in self.catalog.models() if model.description is not None]
        return [*here, *(each for each in self.catalog.published() if self.policy.allows(each.name))]

    def presets(self) -> Sequence[Preset]:
        return list_presets({model.name for model in self.catalog.models()})

    def submit(self, request: JobRequest, owner: str | None = None) -> Job:
        """Queue a run, or refuse it in one sentence. What is in no list is made once."""
        model = self._find_model(request)
        self._find_parent(request)
        self._find_media(request, owner)
        known = None if request.listed else self.store.find(request, self._is_kept, owner)
        job = known or self.store.submit(request, model, owner)
        self._claim_input(request, owner)
        self._start()
        return job

    def measure(self, request: MeasureRequest, owner: str | None = None) -> Job:
        """Queue a measurement of causes, or refuse it in one sentence."""
        model = self._find_model(request.run)
        self._find_media(request.run, owner)
        check_measurement(request)
        job = self.store.submit(request, model, owner)
        self._claim_input(request.run, owner)
        self._start()
        return job

    def job(self, id: str) -> Job:
        return self.store.job(id)

    def jobs(self) -> Sequence[Job]:
        return self.store.jobs()

    def cancel(self, id: str) -> Job:
        return self.store.cancel(id)

    async def events(self, id: str) -> AsyncIterator[Event]:
        """The events of a job from its start, and those that follow until it ends."""
        number, news, loop = 0, asyncio.Event(), asyncio.get_running_loop()

        def notify() -> None:
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(news.set)

        with self.store.listening(id, notify):
            while True:
                news.clear()
                for event in self.store.events(id, number):
                    number += 1
                    yield event
                    if event.name in LAST_EVENTS:
                        return
                if self.store.closed:  # the next server goes on with it
                    return
                with suppress(TimeoutError):
                    async with asyncio.timeout(POLL):
                        await news.wait()

    def topics(self) -> Sequence[Topic]:
        return read_topics()

    def play(self, name: str, given: Mapping[str, str]) -> TopicResult:
        """Run a topic and wait for it; refused while jobs need all workers."""
        topic = find_topic(name)
        parameters = read_parameters(topic, given)
        with self._free_slot() as slot:
            if self._closing.is_set():
                raise ApiError("workbench.closing", code="closing", status=409)
            slot.start()  # its thread also ends the worker
            try:
                worker = slot.find_worker()
                return ask(worker, topic, parameters, self.catalog.models(), self._closing.is_set)
            except EOFError:
                raise ApiError(slot.explain_end(), "crashed", 409) from None
            except TimeoutError:
                slot.end_worker()
                raise ApiError("workbench.no_answer", code="too_slow", status=422) from None

    @contextmanager
    def _free_slot(self) -> Iterator[WorkerSlot]:
        """A slot that no job uses, as soon as there is one; ApiError where jobs need all."""
        deadline = time.monotonic() + TURN
        while self.store.count_unfinished() < len(self.slots) and time.monotonic() < deadline:
            for slot in sorted(self.slots, key=lambda slot: slot.worker is None):  # one that runs, first
                if slot.using.acquire(blocking=False):
                    try:
                        yield slot
                    finally:
                        slot.using.release()
                        self.store.wake()
                    return
            time.sleep(LOOK)
        raise ApiError("workbench.busy", code="busy", status=429)

    def start_play(self, name: str, given: Mapping[str, str], owner: str | None = None) -> Job:
        """Queue a topic that reports each step."""
        topic = find_topic(name)
        if not topic.streams:
            raise ApiError("workbench.no_steps", code="no_steps", status=422, topic=name)
        request = PlayRequest(topic=name, parameters=read_parameters(topic, given))
        job = self.store.submit(request, Model(request.model, None, None), owner)
        self._start()
        return job

    def warm_up(self) -> None:
        """Start a worker before the first job; returns at once."""
        self.slots[0].warm_up()

    def measure_workers(self) -> list[WorkerState]:
        """What each worker that runs takes."""
        return [state for slot in self.slots if (state := slot.measure()) is not None]

    def close(self) -> None:
        """End the workers, their jobs with them."""
        self._closing.set()
        for slot in self.slots:
            slot.close()
        self.store.close()
        deadline = time.monotonic() + PATIENCE
        for slot in self.slots:
            slot.join(max(0.0, deadline - time.monotonic()))
        if self._cluster is not None:
            self._cluster.close()

    # Functions for the slots

    def _start(self) -> None:
        for slot in self.slots:
            slot.start()

    def _start_worker(self, device: str | None) -> Worker:
        chosen = self.settings
        limits: dict[str, Any] = {"offline": chosen.offline, "device": device}
        limits |= {"memory": chosen.worker_memory, "loaded": chosen.loaded_bytes}
        limits["hub_token"] = chosen.hub_token
        return WorkerProcess(**limits) if self._cluster is None else RayWorker(self._cluster, **limits)

    def _describe(self, entry: Entry, path: Path) -> dict[str, Any]:
        """A job as its worker reads it. One of an earlier server is checked again: models may have gone."""
        request = entry.request
        assert request is not None  # kept while a worker runs the job
        if isinstance(request, PlayRequest):
            topic = find_topic(request.topic)
            return describe_task(entry.id, topic, request.parameters, self.catalog.models(), streams=True)
        run = request if isinstance(request, JobRequest) else request.run
        if entry.model is None:
            entry.model = self._find_model(run)
        media = self._find_media(run, entry.job.owner)
        task = describe_job(run, entry.model, self.settings, path, media)
        if request is not run:
            task["measure"] = request.model_dump()
        parent = self._find_parent(run)
        return {"do": "run", "job": entry.id, "parent": None if parent is None else str(parent), **task}

    def _keep(self, entry: Entry, path: Path) -> str | None:
        """Take what a job wrote into the library; None where no recording comes of it."""
        request = entry.request
        assert request is not None  # kept while a worker runs the job
        if isinstance(request, PlayRequest) or (not isinstance(request, JobRequest) and not path.is_file()):
            return None
        return self.add(path, request, entry.job.owner)

    def _find_model(self, request: JobRequest) -> Model:
        """The model of a request that can be run; ApiError for any other."""
        model = self.catalog.find(request.model)
        self.policy.check(model)
        check_request(request, model, self.settings)
        return model

    def _find_parent(self, request: JobRequest) -> Path | None:
        """The bundle that a branch goes on from; ApiError where it is not there (any more)."""
        if request.branch is None or request.parent is None:
            return None
        return self._locate(request.parent)

    def _find_media(self, request: JobRequest, owner: str | None) -> Path | None:
        """The file that a model looks at or listens to; ApiError where it is not there (any more)."""
        if request.branch is not None:  # it reads what its parent read
            return None
        if request.media is not None:
            return self.inputs.find(request.media, owner)
        return None if request.media_of is None else self._locate(request.media_of)

    def _claim_input(self, request: JobRequest, owner: str | None) -> None:
        """Keep the file that was sent for a job until the job ends."""
        if request.media is not None:
            self.inputs.claim(request.media, owner)

    def _forget_input(self, entry: Entry) -> None:
        """Remove the file that was sent for a job that has ended."""
        request = entry.request
        assert request is not None  # this is called before the request is dropped
        run = request if isinstance(request, JobRequest | PlayRequest) else request.run
        if isinstance(run, JobRequest) and run.media is not None:
            self.inputs.remove(run.media, entry.job.owner)

    def _locate(self, recording: str) -> Path:
        if self.locate is None:
            raise ApiError("api.no_recording", status=404, id=recording[:80])
        return self.locate(recording)

    def _is_kept(self, recording: str) -> bool:
        """Whether a recording is still there; taken for granted where nothing can tell."""
        try:
            return self.locate is None or self.locate(recording).exists()
        except ApiError:
            return False
