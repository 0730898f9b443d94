"""One place for a worker: the thread that takes jobs from the queue, and the process that runs them.

In:   the store of jobs; what turns a job into a task, and a finished bundle into a recording of the library.
Out:  ended jobs. Whatever happens to the worker (a crash, too much memory, too long, a cancelled run) is one
      job that failed, in one sentence; the next job gets a new worker, and other slots notice nothing.
"""

import logging
import queue
import shutil
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from glassformer.api.jobs import LAST_EVENTS, WorkerState
from glassformer.errors import GlassformerError
from glassformer.messages import Message, message
from glassformer.workbench.jobs import Entry, JobStore
from glassformer.workbench.settings import GIGABYTE, WorkbenchSettings

TICK = 0.05  # seconds between two looks at a running job
log = logging.getLogger("glassformer.workbench")


class Worker(Protocol):
    """A process that runs one job at a time, here or elsewhere: WorkerProcess, RayWorker."""

    errors: deque[str]  # what it wrote to stderr
    first_memory: int | None  # bytes beside models after its first job
    models: tuple[str, ...]
    models_size: int
    gpu_memory: int

    @property
    def alive(self) -> bool: ...

    def send(self, message: Mapping[str, Any]) -> None: ...

    def receive(self, seconds: float) -> dict[str, Any] | None: ...

    def memory(self) -> int: ...

    def end(self) -> int | None: ...


Start = Callable[[str | None], Worker]  # a worker on a device
Describe = Callable[
    [Entry, Path], dict[str, Any]
]  # a job as its worker reads it; ApiError where it cannot run
Keep = Callable[[Entry, Path], str | None]  # takes what a job wrote into the library: the id of a recording


class WorkerSlot:
    """See above. `using` is held while the queue or a lesson talks to the worker."""

    def __init__(
        self,
        store: JobStore,
        settings: WorkbenchSettings,
        folder: Path,
        device: str | None,
        start_worker: Start,
        describe: Describe,
        keep: Keep,
    ) -> None:
        self.store = store
        self.settings = settings
        self.folder = folder
        self.device = device
        self.start_worker = start_worker
        self.describe = describe
        self.keep = keep
        self.worker: Worker | None = None
        self.using = threading.Lock()
        self._closing = threading.Event()
        self._warm = threading.Event()  # a worker is wanted, though no job waits
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def start(self) -> None:
        """Take jobs from now on; returns at once."""
        with self._starting:
            running = self._thread is not None and self._thread.is_alive()
            if not running and not self._closing.is_set():
                self._thread = threading.Thread(
                    target=self._process_queue, name="glassformer-workbench", daemon=True
                )
                self._thread.start()

    def warm_up(self) -> None:
        """Start the worker before the first job; returns at once."""
        self._warm.set()
        self.start()

    def rank(self, entry: Entry) -> int:
        """Best: the model is open; then a worker that runs; then any. Below 0: a lesson uses the worker."""
        if self.using.locked():
            return -1
        worker = self.worker
        if worker is None or not worker.alive:
            return 0
        return 2 if entry.job.model in worker.models else 1

    def measure(self) -> WorkerState | None:
        """What the worker takes; None where none runs."""
        worker = self.worker
        if worker is None or not worker.alive:
            return None
        return WorkerState(
            device=self.device or "cpu",
            memory=worker.memory(),
            models=worker.models_size,
            gpu_memory=worker.gpu_memory,
            busy=self.using.locked(),
        )

    def close(self) -> None:
        """End the worker, its job with it; returns at once."""
        self._closing.set()

    def join(self, seconds: float) -> None:
        """Wait until the worker has ended."""
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(seconds)

    def _process_queue(self) -> None:
        try:
            while not self._closing.is_set():
                try:
                    self._process_next()
                except (
                    Exception
                ):  # no process to be had, a cluster that is gone: the next job may fare better
                    log.exception("a worker could not be started, measured or ended")
                    self._closing.wait(TICK)
        finally:
            self.end_worker()

    def _process_next(self) -> None:
        if self._warm.is_set() and self.worker is None:
            self._warm.clear()
            with self.using:
                self.find_worker()
        entry = self.store.take(1.0, self)
        if entry is not None:
            with self.using:
                self._run(entry)

    def _run(self, entry: Entry) -> None:
        """One job from start to end; nothing that goes wrong in it leaves this function."""
        path = self.folder.resolve() / f".job-{entry.id}" / "recording.bundle"  # moved once it is done
        try:
            path.parent.mkdir(exist_ok=True)  # it is there where a server was killed during this job
            if not self._try(entry, path):
                self.end_worker()  # it died before it received this job: another one gets it
                if not self._try(entry, path):
                    self.store.fail(entry, self.explain_end(), "crashed")
        except GlassformerError as error:
            self.store.fail(entry, error.message, "failed")
        except Exception as error:  # a full disk, no process to be had: the job fails, the queue goes on
            log.exception("a job failed")
            self.store.fail(entry, message("workbench.failed.unknown", reason=error), "failed")
            self.end_worker()
        finally:
            shutil.rmtree(path.parent, ignore_errors=True)  # also what a worker that was ended left behind
            self.store.release(entry)
        self._replace_grown()

    def _try(self, entry: Entry, path: Path) -> bool:
        """Give the job to the worker; False if the process was already dead."""
        worker = self.find_worker()
        worker.send(self.describe(entry, path))
        return self._follow(entry, worker, path)

    def _follow(self, entry: Entry, worker: Worker, path: Path) -> bool:
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
                    self.store.fail(entry, self.explain_end(), "crashed")
                return answered
            mine = news.get("job") == entry.id
            answered = answered or mine
            if mine and self._handle(entry, news, path):
                return True
            if self.store.is_stopped(entry):  # cancelled, or we are closing
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
            if used > self.settings.worker_memory:
                self.store.fail(entry, self._explain_memory(used), "out_of_memory")
                self.end_worker()
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
                if not self.store.is_stopped(entry):
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
        recording = self.keep(entry, path)
        more = {"play": entry.play} if entry.job.kind == "play" else {}
        self.store.finish(entry, recording, **more)

    def _stop(self, entry: Entry, worker: Worker) -> None:
        """Ask the worker to stop; end it where it does not do so at once."""
        if self._closing.is_set():
            self.end_worker()
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
        self.end_worker()
        self._warm.set()  # the next job should not wait longer than need be

    # The worker

    def find_worker(self) -> Worker:
        """The worker; a new one where there is none, or it has died in the meantime."""
        if self.worker is not None and not self.worker.alive:
            self.end_worker()
        if self.worker is None:
            self.worker = self.start_worker(self.device)
        return self.worker

    def end_worker(self) -> int | None:
        """End the worker, if one runs; its exit code."""
        worker, self.worker = self.worker, None
        return None if worker is None else worker.end()

    def explain_end(self) -> Message:
        """Why the worker process ended, as far as its exit code shows."""
        worker = self.worker
        errors = list(worker.errors) if worker is not None else []
        code = self.end_worker()
        log.warning("the worker process ended with %s: %s", code, "\n".join(errors))
        if code == -signal.SIGKILL:
            return message("workbench.worker.killed")
        if code is not None and code < 0:
            return message("workbench.worker.crashed", signal=signal.Signals(-code).name)
        last = next((line for line in reversed(errors) if line.strip()), "–")
        return message("workbench.worker.ended", reason=last)

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
            self.end_worker()
            self._warm.set()

    def _explain_memory(self, used: int) -> Message:
        limit = self.settings.worker_memory / GIGABYTE
        return message("workbench.failed.memory_limit", limit=limit, used=used / GIGABYTE)
