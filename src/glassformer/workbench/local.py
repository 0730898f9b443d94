"""The workbench of this machine: a queue, the thread that runs it, one worker process with the models.

In:   requests of the page; a folder for bundles, and a function that adds finished ones to the library.
Out:  jobs. Whatever happens to the worker (a crash, too much memory, too long, a cancelled run) is one job
      that failed, in one sentence; the next job gets a new worker.
"""

import asyncio
import logging
import queue
import shutil
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from glassformer.api.effects import EffectsRequest, MeasureRequest, PatchingRequest
from glassformer.api.jobs import LAST_EVENTS, Event, Job, JobRequest, ModelDescription, PlayRequest, Preset
from glassformer.errors import ApiError, GlassformerError
from glassformer.lessons.schema import Topic, TopicResult
from glassformer.lessons.topics import find_topic, read_parameters, read_topics
from glassformer.messages import Message, message
from glassformer.weights.hub import ZOO
from glassformer.workbench.jobs import Entry, JobStore
from glassformer.workbench.models import Model, ModelCatalog
from glassformer.workbench.presets import list_presets
from glassformer.workbench.process import WorkerProcess
from glassformer.workbench.requests import check_measurement, check_request, describe_job
from glassformer.workbench.settings import GIGABYTE, WorkbenchSettings
from glassformer.workbench.topics import ask, describe_task

# Takes a finished bundle into the library and gives its id.
Add = Callable[[Path, JobRequest | MeasureRequest], str]
Locate = Callable[[str], Path]  # the bundle of a recording in the library; ApiError where there is none

TURN = 10.0  # seconds that a play waits for those before it
TICK = 0.05  # seconds between two looks at a running job
POLL = 0.03  # seconds between two looks at a job's events
log = logging.getLogger("glassformer.workbench")


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
    ) -> None:
        """Without `locate` nothing can branch off from a recording."""
        self.settings = settings
        self.folder = folder
        self.add = add
        self.locate = locate
        self.catalog = ModelCatalog(zoo, settings.models, offline=settings.offline, runs=settings.runs)
        self.store = JobStore(settings.queue, settings.kept)
        self.worker: WorkerProcess | None = None
        self._closing = threading.Event()
        self._warm = threading.Event()  # a worker is wanted, though no job waits
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._using = threading.Lock()  # held while the queue or a lesson talks to the worker

    # Methods for the server

    def models(self) -> Sequence[ModelDescription]:
        here = [model.description for model in self.catalog.models() if model.description is not None]
        return [*here, *self.catalog.published()]

    def presets(self) -> Sequence[Preset]:
        return list_presets({model.name for model in self.catalog.models()})

    def submit(self, request: JobRequest) -> Job:
        """Queue a run, or refuse it in one sentence. What is in no list is made once."""
        model = self.catalog.find(request.model)
        check_request(request, model, self.settings)
        self._find_parent(request)
        known = None if request.listed else self.store.find(request, self._is_kept)
        job = known or self.store.submit(request, model)
        self._start()
        return job

    def measure(self, request: MeasureRequest) -> Job:
        """Queue a measurement of causes, or refuse it in one sentence."""
        model = self.catalog.find(request.run.model)
        check_request(request.run, model, self.settings)
        check_measurement(request)
        job = self.store.submit(request, model)
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
        number = 0
        while True:
            for event in self.store.events(id, number):
                number += 1
                yield event
                if event.name in LAST_EVENTS:
                    return
            await asyncio.sleep(POLL)

    def topics(self) -> Sequence[Topic]:
        return read_topics()

    def play(self, name: str, given: Mapping[str, str]) -> TopicResult:
        """Run a topic and wait for it; refused while a job runs or waits."""
        topic = find_topic(name)
        parameters = read_parameters(topic, given)
        if not self.store.is_idle() or not self._using.acquire(timeout=TURN):
            raise ApiError("workbench.busy", code="busy", status=429)
        try:
            if self._closing.is_set():
                raise ApiError("workbench.closing", code="closing", status=409)
            self._start()  # the thread of the queue also ends the worker
            return ask(self._find_worker(), topic, parameters, self.catalog.models(), self._closing.is_set)
        except EOFError:
            raise ApiError(self._explain_end(), "crashed", 409) from None
        except TimeoutError:
            self._end_worker()
            raise ApiError("workbench.no_answer", code="too_slow", status=422) from None
        finally:
            self._using.release()

    def start_play(self, name: str, given: Mapping[str, str]) -> Job:
        """Queue a topic that reports each step."""
        topic = find_topic(name)
        if not topic.streams:
            raise ApiError("workbench.no_steps", code="no_steps", status=422, topic=name)
        request = PlayRequest(topic=name, parameters=read_parameters(topic, given))
        job = self.store.submit(request, Model(request.model, None, None))
        self._start()
        return job

    def warm_up(self) -> None:
        """Start the worker before the first job; returns at once."""
        self._warm.set()
        self._start()

    def measure_workers(self) -> list[int]:
        """Bytes of memory of the worker, if one runs."""
        worker = self.worker
        return [] if worker is None or not worker.alive else [worker.memory()]

    def close(self) -> None:
        """End the worker, its job with it."""
        self._closing.set()
        self.store.close()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(10.0)

    # The thread that runs the queue

    def _start(self) -> None:
        with self._starting:
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(
                    target=self._process_queue, name="glassformer-workbench", daemon=True
                )
                self._thread.start()

    def _process_queue(self) -> None:
        try:
            while not self._closing.is_set():
                if self._warm.is_set() and self.worker is None:
                    self._warm.clear()
                    with self._using:
                        self._find_worker()
                entry = self.store.take(1.0)
                if entry is not None:
                    with self._using:
                        self._run(entry)
        finally:
            self._end_worker()

    def _run(self, entry: Entry) -> None:
        """One job from start to end; nothing that goes wrong in it leaves this function."""
        path = self.folder.resolve() / f".job-{entry.id}" / "recording.bundle"  # moved once it is done
        try:
            path.parent.mkdir()
            if not self._try(entry, path):
                self._end_worker()  # it died before it received this job: another one gets it
                if not self._try(entry, path):
                    self.store.fail(entry, self._explain_end(), "crashed")
        except GlassformerError as error:
            self.store.fail(entry, error.message, "failed")
        except Exception as error:  # a full disk, no process to be had: the job fails, the queue goes on
            log.exception("a job failed")
            self.store.fail(entry, message("workbench.failed.unknown", reason=error), "failed")
            self._end_worker()
        finally:
            shutil.rmtree(path.parent, ignore_errors=True)  # also what a worker that was ended left behind
        self._replace_grown()

    def _task(self, entry: Entry, path: Path) -> dict[str, Any]:
        model, request = entry.model, entry.request
        if isinstance(request, PlayRequest):
            topic = find_topic(request.topic)
            return describe_task(entry.id, topic, request.parameters, self.catalog.models(), streams=True)
        run = request if isinstance(request, JobRequest) else request.run
        task = describe_job(run, model, self.settings, path)
        if request is not run:
            task["measure"] = request.model_dump()
        parent = self._find_parent(run)
        return {"do": "run", "job": entry.id, "parent": None if parent is None else str(parent), **task}

    def _find_parent(self, request: JobRequest) -> Path | None:
        """The bundle that a branch goes on from; ApiError where it is not there (any more)."""
        if request.branch is None or request.parent is None:
            return None
        if self.locate is None:
            raise ApiError("api.no_recording", status=404, id=request.parent[:80])
        return self.locate(request.parent)

    def _is_kept(self, recording: str) -> bool:
        """Whether a recording is still there; taken for granted where nothing can tell."""
        try:
            return self.locate is None or self.locate(recording).exists()
        except ApiError:
            return False

    def _try(self, entry: Entry, path: Path) -> bool:
        """Give the job to the worker; False if the process was already dead."""
        worker = self._find_worker()
        worker.send(self._task(entry, path))
        return self._follow(entry, worker, path)

    def _follow(self, entry: Entry, worker: WorkerProcess, path: Path) -> bool:
        """Pass on what the worker says, until the job is finished; False: it sent nothing about it."""
        deadline = time.monotonic() + self.settings.seconds
        answered = False
        while True:
            try:
                news = worker.receive(TICK)
            except queue.Empty:
                news = {}
            if news is None:
                if answered:
                    self.store.fail(entry, self._explain_end(), "crashed")
                return answered
            mine = news.get("job") == entry.id
            answered = answered or mine
            if mine and self._handle(entry, news, path):
                return True
            if self.store.is_finished(entry):  # cancelled, or we are closing
                self._stop(entry, worker)
                return True
            if time.monotonic() > deadline:
                text = message("workbench.failed.too_slow", seconds=self.settings.seconds)
                self.store.fail(entry, text, "too_slow")
                self._stop(entry, worker)
                return True
            if news:
                continue  # memory is looked at between two messages
            used = worker.memory()
            if used > self.settings.memory:
                self.store.fail(entry, self._explain_memory(used), "out_of_memory")
                self._end_worker()
                return True

    def _handle(self, entry: Entry, news: dict[str, Any], path: Path) -> bool:
        """Pass one message on; True where it is the last one."""
        match news["say"]:
            case "progress":
                self.store.progress(entry, news["stage"], news["share"], news["detail"])
            case "step":
                self.store.step(entry, news["data"])
            case "played":
                entry.play = news["play"]
            case "done":
                if not self.store.is_finished(entry):
                    self._finish(entry, path)
                return True
            case "failed":
                text = Message.from_json(news["message"]).replace(f"{path.parent}/", "")
                self.store.fail(entry, text, news["code"])
                return True
            case "cancelled":
                return True
        return False

    def _finish(self, entry: Entry, path: Path) -> None:
        if isinstance(entry.request, PlayRequest):
            self.store.finish(entry, None, play=entry.play)
        elif isinstance(entry.request, EffectsRequest | PatchingRequest):
            self.store.finish(entry, self.add(path, entry.request) if path.is_file() else None)
        else:
            self.store.finish(entry, self.add(path, entry.request))

    def _stop(self, entry: Entry, worker: WorkerProcess) -> None:
        """Ask the worker to stop; end it where it does not do so at once."""
        if self._closing.is_set():
            self._end_worker()
            return
        worker.send({"do": "cancel", "job": entry.id})
        deadline = time.monotonic() + self.settings.patience
        while time.monotonic() < deadline and not self._closing.is_set():
            try:
                news = worker.receive(TICK)
            except queue.Empty:
                continue
            if news is None:
                break
            if news.get("job") == entry.id and news["say"] in LAST_EVENTS:
                return  # it stopped, and keeps its models
        self._end_worker()
        self._warm.set()  # the next job should not wait longer than need be

    # The worker

    def _find_worker(self) -> WorkerProcess:
        """The worker; a new one where there is none, or it has died in the meantime."""
        if self.worker is not None and not self.worker.alive:
            self._end_worker()
        if self.worker is None:
            limits = self.settings
            self.worker = WorkerProcess(
                offline=limits.offline, memory=limits.memory, loaded=limits.loaded_bytes
            )
        return self.worker

    def _replace_grown(self) -> None:
        """Replace a worker that has grown: libraries keep something for each new length of a text."""
        worker = self.worker
        if worker is None or not worker.alive:
            return
        used = worker.memory() - worker.models_size
        if worker.first_memory is None:
            worker.first_memory = used
        elif (growth := used - worker.first_memory) > self.settings.growth:
            log.info("the worker process has grown by %d bytes; another one replaces it", growth)
            self._end_worker()
            self._warm.set()

    def _end_worker(self) -> int | None:
        worker, self.worker = self.worker, None
        return None if worker is None else worker.end()

    def _explain_end(self) -> Message:
        """Why the worker process ended, as far as its exit code shows."""
        worker = self.worker
        errors = list(worker.errors) if worker is not None else []
        code = self._end_worker()
        log.warning("the worker process ended with %s: %s", code, "\n".join(errors))
        if code == -signal.SIGKILL:
            return message("workbench.worker.killed")
        if code is not None and code < 0:
            return message("workbench.worker.crashed", signal=signal.Signals(-code).name)
        last = next((line for line in reversed(errors) if line.strip()), "–")
        return message("workbench.worker.ended", reason=last)

    def _explain_memory(self, used: int) -> Message:
        limit = self.settings.memory / GIGABYTE
        return message("workbench.failed.memory_limit", limit=limit, used=used / GIGABYTE)
