"""The worker process: started, sent messages, measured, ended. It may crash without harm to this one.

In:   messages to it, as dictionaries.
Out:  messages from it, in order; then None, once it is gone.

Lines of JSON go through two pipes. When this process ends for any reason, the pipe closes and the worker
exits: it is never orphaned. Nothing large is sent: recordings are files.
"""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import glassformer

PROBLEM = "glassformer-problem"  # a process that trains ends its output with {this: message} after an error
KEPT_LINES = 40  # of what a worker wrote to stderr


class WorkerProcess:
    """One process that imports torch and runs models, one job at a time."""

    def __init__(
        self, *, offline: bool, memory: int, loaded: int, device: str | None = None, hub_token: bool = True
    ) -> None:
        self.messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.errors: deque[str] = deque(maxlen=KEPT_LINES)
        self.first_memory: int | None = None  # bytes beside models after its first job
        # As of the last job that ended:
        self.models: tuple[str, ...] = ()  # names of those that it has open
        self.models_size = 0  # their bytes in its memory
        self.gpu_memory = 0  # bytes
        # A folder of its own: the name of a model must not be taken for a folder that happens to be here.
        self._home = tempfile.TemporaryDirectory(prefix="glassformer-worker-", ignore_cleanup_errors=True)
        options = ["--memory", str(memory), "--loaded", str(loaded)]
        options += [] if device is None else ["--device", device]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "glassformer.workbench.worker", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._home.name,
            env=make_worker_environment(offline=offline, hub_token=hub_token),
        )
        self._readers = [
            threading.Thread(target=target, args=(pipe,), name="glassformer-worker", daemon=True)
            for target, pipe in ((self._read, self._process.stdout), (self._listen, self._process.stderr))
        ]
        for reader in self._readers:
            reader.start()

    @property
    def id(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def send(self, message: Mapping[str, Any]) -> None:
        """Send it a message; nothing happens if the process has ended."""
        pipe = self._process.stdin
        assert pipe is not None
        with suppress(OSError, ValueError):
            pipe.write(json.dumps(message).encode() + b"\n")
            pipe.flush()

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """The next message; None where the process is gone. Raises `queue.Empty` when nothing came."""
        message = self.messages.get(timeout=seconds)
        if message is None:
            self.messages.put(None)  # the next call gets the same answer
        else:
            self.models = tuple(message.get("models", self.models))
            self.models_size = message.get("size", self.models_size)
            self.gpu_memory = message.get("gpu", self.gpu_memory)
        return message

    def memory(self) -> int:
        """Bytes that it takes for itself; 0 where the system does not say."""
        return measure_memory(self.id)

    def end(self, seconds: float = 0.0) -> int:
        """Wait so long for it to exit, then kill it; gives its `returncode`."""
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            if seconds:
                self._process.wait(seconds)
        if self.alive:
            self._process.kill()
        code = self._process.wait()
        for reader in self._readers:
            reader.join(1.0)
        self._home.cleanup()
        return code

    def _read(self, pipe: IO[bytes]) -> None:
        with pipe:
            for line in pipe:
                with suppress(ValueError):  # half a line of one that was killed
                    self.messages.put(json.loads(line))
        self.messages.put(None)

    def _listen(self, pipe: IO[bytes]) -> None:
        with pipe:
            for line in pipe:
                self.errors.append(line.decode(errors="replace").rstrip())


def measure_memory(number: int) -> int:
    """Bytes that a process takes for itself; 0 where the system does not say."""
    try:
        lines = Path(f"/proc/{number}/status").read_text().splitlines()
    except OSError:
        return 0
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return sum(1024 * int(fields[name].split()[0]) for name in ("RssAnon", "VmSwap") if name in fields)


def make_worker_environment(*, offline: bool, hub_token: bool = True) -> dict[str, str]:
    """That of a worker, whose threads sleep while they wait: spinning ones take the time of busy machines.

    Its memory is limited: with RUST_BACKTRACE=1 libraries in Rust may hang when an allocation fails.
    """
    known = make_environment(offline=offline, hub_token=hub_token)
    return {"OMP_WAIT_POLICY": "passive"} | known | {"RUST_BACKTRACE": "0"}


def make_environment(*, offline: bool, hub_token: bool = True) -> dict[str, str]:
    """Ours, with the package on the path that we came from ourselves."""
    home = str(Path(glassformer.__file__).parent.parent)
    known = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(dict.fromkeys([home, *map(os.path.abspath, known)])),
        "PYTHONIOENCODING": "utf-8",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    for name in ("GLASSFORMER_TOKEN", "GLASSFORMER_SERVE_TOKEN"):  # not for the code of models
        variables.pop(name, None)
    if not hub_token:  # it is the operator's, but other people name the models
        for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_HUB_TOKEN"):
            variables.pop(name, None)
        variables |= {"HF_HUB_DISABLE_IMPLICIT_TOKEN": "1", "HF_TOKEN_PATH": os.devnull}
    if offline:
        variables |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    return variables
