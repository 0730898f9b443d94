"""Tasks in processes of this machine.

In:   tasks; how many may run at a time.
Out:  their results. A process that dies takes one task with it, which is started again in a new process.

Processes are used again for later tasks that need the same environment: importing torch takes seconds.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Self

from glassformer.engine.engine import RETRIES, Resources, Result, check_task, read_outcome
from glassformer.errors import EngineError

PATIENCE = 5.0  # seconds that an idle process has to exit


@dataclass(slots=True)
class _Task:
    key: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    resources: Resources
    retries: int
    devices: tuple[int, ...] = field(default=())  # GPUs that it has while it runs


class LocalEngine:
    """At most `jobs` tasks at a time. `gpus`: how many this machine has (default: as torch finds)."""

    def __init__(self, jobs: int = 1, gpus: int | None = None) -> None:
        self.slots = jobs
        self.cpus = os.cpu_count() or 1
        self._gpus = gpus
        self._waiting: deque[_Task] = deque()
        self._running: dict[_Worker, _Task] = {}
        self._idle: list[_Worker] = []

    @property
    def gpus(self) -> int:
        if self._gpus is None:
            import torch

            self._gpus = torch.cuda.device_count()
        return self._gpus

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(task.key for task in (*self._running.values(), *self._waiting))

    @property
    def processes(self) -> dict[str, int]:
        """By key, the number of the process that runs a task."""
        return {task.key: worker.id for worker, task in self._running.items()}

    def submit(
        self,
        key: str,
        function: Callable[..., Any],
        *arguments: Any,
        resources: Resources = Resources(),  # noqa: B008 - frozen
        retries: int = RETRIES,
    ) -> None:
        check_task(key, self.keys, function)
        if resources.gpus and resources.gpus > self.gpus:
            raise EngineError("engine.too_many_gpus", wanted=resources.gpus, gpus=self.gpus)
        self._waiting.append(_Task(key, function, arguments, resources, retries))
        self._start_waiting()

    def wait(self, seconds: float | None = None) -> Result | None:
        end = None if seconds is None else time.monotonic() + seconds
        while self._running:
            left = None if end is None else max(0.0, end - time.monotonic())
            workers = {worker.connection: worker for worker in self._running}
            ready = wait(list(workers), left)
            if not ready:
                return None
            worker = workers[ready[0]]  # type: ignore[index]
            result = self._finish(worker)
            self._start_waiting()
            if result is not None:
                return result
        return None

    def cancel(self, key: str) -> None:
        self._waiting = deque(task for task in self._waiting if task.key != key)
        for worker, task in list(self._running.items()):
            if task.key == key:
                del self._running[worker]
                worker.kill()
        self._start_waiting()

    def close(self) -> None:
        self._waiting.clear()
        for worker in self._running:
            worker.kill()
        for worker in self._idle:
            worker.end()
        self._running.clear()
        self._idle.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _finish(self, worker: "_Worker") -> Result | None:
        """The result of a task; None where its process was lost and it is started again."""
        task = self._running.pop(worker)
        try:
            succeeded, pickled = worker.connection.recv()
        except (EOFError, OSError):
            how = worker.kill()
            if task.retries > 0:
                task.retries -= 1
                self._waiting.appendleft(task)
                return None
            return Result(task.key, error=EngineError("engine.lost", key=task.key, how=how))
        self._idle.append(worker)
        return read_outcome(task.key, succeeded, pickled)

    def _start_waiting(self) -> None:
        for task in list(self._waiting):
            if len(self._running) >= self.slots:
                return
            devices = self._find_devices(task.resources)
            if devices is None:
                continue  # a smaller one may fit
            self._waiting.remove(task)
            task.devices = devices
            worker = self._take_worker(_environment(task))
            worker.connection.send((task.function, task.arguments))
            self._running[worker] = task

    def _take_worker(self, environment: dict[str, str]) -> "_Worker":
        """An idle process with this environment, or a new one; idle ones do not pile up."""
        while self._idle:
            worker = self._idle.pop()
            if worker.environment == environment and worker.alive:
                return worker
            worker.end()
        return _Worker(environment)

    def _find_devices(self, resources: Resources) -> tuple[int, ...] | None:
        """The numbers of GPUs with enough room; None where there are not enough at the moment."""
        if not resources.gpus:
            return ()
        used = [0.0] * self.gpus
        for task in self._running.values():
            for device in task.devices:
                used[device] += min(1.0, task.resources.gpus)
        share = min(1.0, resources.gpus)
        free = [device for device, load in enumerate(used) if load + share <= 1 + 1e-9]
        free.sort(key=lambda device: used[device])
        count = max(1, round(resources.gpus))
        return tuple(sorted(free[:count])) if len(free) >= count else None


class _Worker:
    """One process and the socket to it."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "glassformer.engine.worker", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=os.environ | environment | _python_path(),
                start_new_session=True,  # Ctrl-C goes to the program that waits for results
            )
        self.connection: Connection[Any, Any] = Connection(ours.detach())
        self.connection.send(sys.path)

    @property
    def id(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        """Let an idle process exit."""
        self.connection.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> str:
        """End the process now; how it ended: the name of a signal, or its exit code."""
        with suppress(OSError):
            self.connection.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)  # it may be ending by itself
        self._process.kill()
        code = self._process.wait()
        return signal.Signals(-code).name if code < 0 else str(code)


def _environment(task: _Task) -> dict[str, str]:
    """Threads and GPUs; a variable that a person has set stays."""
    wanted = {} if "OMP_NUM_THREADS" in os.environ else {"OMP_NUM_THREADS": str(task.resources.cpus)}
    if task.devices:
        shown = os.environ.get("CUDA_VISIBLE_DEVICES")
        names = shown.split(",") if shown else None
        wanted["CUDA_VISIBLE_DEVICES"] = ",".join(
            names[each] if names else str(each) for each in task.devices
        )
    return wanted


def _python_path() -> dict[str, str]:
    """The worker must find this package before it is told where else to look."""
    home = str(Path(__file__).parents[2])
    known = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": f"{home}{os.pathsep}{known}" if known else home}
