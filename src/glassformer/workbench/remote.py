"""A worker on another machine of a Ray cluster: the same as a process of this one (process.py).

In:   messages to it; the bundle that a branch goes on from travels along.
Out:  messages from it; the bundle of a job that is done has arrived before its last message is read.

An actor holds the worker process on its machine: a model that crashes ends that process, not the actor. Every
machine needs this package; models in folders must lie under the same paths, those of the zoo are found.
"""

import queue
import shutil
import tempfile
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from glassformer.api.jobs import LAST_EVENTS
from glassformer.engine.ray_cluster import RayEngine
from glassformer.weights.hub import ZOO
from glassformer.workbench.process import KEPT_LINES, WorkerProcess

BLOCK = 16 << 20  # bytes of a bundle that travel at a time
WAIT = 0.5  # seconds that an actor waits for news before it says that there are none
STARTING = 120.0  # seconds until the cluster has room for a worker
READ = ("parent", "media")  # files that a job reads, by their names in its message
CLEANING = 5.0  # seconds for an actor to end its process and remove its files


class RayWorker:
    """See `Worker` in slot.py."""

    def __init__(
        self,
        cluster: RayEngine,
        *,
        offline: bool,
        memory: int,
        loaded: int,
        device: str | None,
        hub_token: bool = True,
    ) -> None:
        self.messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.errors: deque[str] = deque(maxlen=KEPT_LINES)
        self.first_memory: int | None = None
        self.models: tuple[str, ...] = ()
        self.models_size = self.gpu_memory = 0
        self._ray = cluster.ray
        self._memory = 0
        self._ended = threading.Event()
        self._paths: dict[str, Path] = {}  # by job, where its bundle is wanted
        on_gpu = (device or "").startswith("cuda")
        options = {"num_cpus": 1, "num_gpus": int(on_gpu), "max_concurrency": 4}
        host = self._ray.remote(Host).options(**options)
        # Ray shows an actor its own GPU alone.
        self._host = host.remote(offline, memory, loaded, "cuda" if on_gpu else device, hub_token)
        threading.Thread(target=self._read, name="glassformer-worker", daemon=True).start()

    @property
    def alive(self) -> bool:
        return not self._ended.is_set()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send it a message; nothing happens if it has ended."""
        task = dict(message)
        if "path" in task:
            self._paths[task["job"]] = Path(task["path"])
        files = {name: Path(task[name]).read_bytes() for name in READ if task.get(name) is not None}
        with suppress(self._ray.exceptions.RayError):
            self._ray.get(self._host.send.remote(task, files), timeout=STARTING)

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """The next message; None where the worker is gone. Raises `queue.Empty` when nothing came."""
        message = self.messages.get(timeout=seconds)
        if message is None:
            self.messages.put(None)
        else:
            self.models = tuple(message.get("models", self.models))
            self.models_size = message.get("size", self.models_size)
            self.gpu_memory = message.get("gpu", self.gpu_memory)
        return message

    def memory(self) -> int:
        """Bytes that its process takes, a moment ago."""
        return self._memory

    def end(self) -> int | None:
        """End the actor and its process; an actor that is killed removes no files, so it is asked before."""
        self._ended.set()
        with suppress(self._ray.exceptions.RayError):
            self._ray.get(self._host.close.remote(), timeout=CLEANING)
        with suppress(self._ray.exceptions.RayError):
            self._ray.kill(self._host)
        return None

    def _read(self) -> None:
        try:
            while not self._ended.is_set():
                found, self._memory = self._ray.get(self._host.receive.remote())
                for message in found:
                    if message is None:
                        return
                    path = self._paths.pop(message["job"], None) if is_last(message) else None
                    if path is not None and message["say"] == "done":
                        self._fetch(message["job"], path)
                    self.messages.put(message)
        except Exception as error:  # the actor, its machine or the cluster is gone
            self.errors.append(f"{type(error).__name__} of Ray")
        finally:
            self._ended.set()
            self.messages.put(None)

    def _fetch(self, job: str, path: Path) -> None:
        """The bundle of a job, from the machine where it was made."""
        start = 0
        while (block := self._ray.get(self._host.fetch.remote(job, start))) is not None:
            with path.open("ab" if start else "wb") as file:
                file.write(block)
            start += len(block)


class Host:
    """The actor: a worker process, and the files of its jobs."""

    def __init__(
        self, offline: bool, memory: int, loaded: int, device: str | None, hub_token: bool = True
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="glassformer-remote-", ignore_cleanup_errors=True)
        self._worker = WorkerProcess(
            offline=offline, memory=memory, loaded=loaded, device=device, hub_token=hub_token
        )

    def send(self, task: dict[str, Any], files: Mapping[str, bytes]) -> None:
        """Pass a message on, with paths of this machine."""
        if "path" in task:
            folder = self._find(task["job"])
            folder.mkdir(exist_ok=True)
            task["path"] = str(folder / "recording.bundle")
            for name, content in files.items():
                (folder / name).write_bytes(content)
                task[name] = str(folder / name)
        task["folder"] = _find_folder(task.get("name", ""), task.get("folder"))
        if "models" in task:
            task["models"] = [(name, _find_folder(name, folder)) for name, folder in task["models"]]
        self._worker.send(task)

    def receive(self) -> tuple[list[dict[str, Any] | None], int]:
        """What the process has said meanwhile, and the memory that it takes."""
        found: list[dict[str, Any] | None] = []
        with suppress(queue.Empty):
            found.append(self._worker.receive(WAIT))
            while found[-1] is not None:
                found.append(self._worker.receive(0.001))
        for message in found:
            if message is not None and is_last(message) and message["say"] != "done":
                self._remove(message["job"])  # nobody fetches anything
        return found, self._worker.memory()

    def fetch(self, job: str, start: int) -> bytes | None:
        """A part of the bundle of a job; None after the last one, which removes the files of the job."""
        block = b""
        with suppress(FileNotFoundError), (self._find(job) / "recording.bundle").open("rb") as file:
            file.seek(start)
            block = file.read(BLOCK)
        if not block:
            self._remove(job)
        return block or None

    def close(self) -> None:
        """End the process and remove all files."""
        self._worker.end()
        self._folder.cleanup()

    def _find(self, job: str) -> Path:
        return Path(self._folder.name) / job

    def _remove(self, job: str) -> None:
        shutil.rmtree(self._find(job), ignore_errors=True)


def is_last(message: Mapping[str, Any]) -> bool:
    """Whether a job ends with this message."""
    return "job" in message and message.get("say") in LAST_EVENTS


def _find_folder(name: str, folder: str | None) -> str | None:
    """Where a model lies on this machine: the zoo is wherever this package is."""
    if folder is not None and name.startswith("zoo/") and not Path(folder).is_dir():
        return str(ZOO / name.removeprefix("zoo/"))
    return folder
