"""Processes of the product that start at once: forked from one that has imported torch already.

In:   `subprocess.Popen([sys.executable, "-m", module, ...])` of one of `MODULES`, in `fork_starts()`; so do
      processes of pytest-xdist, and the process that forks for `multiprocessing`.
Out:  the same process: a child of this one, with its own number, pipes, folder, environment and exit code.

To import torch takes two seconds of a processor, and the suite starts more than a hundred such processes.
Each process of pytest-xdist gets one that forks, too, a copy of the first: what takes long is imported once.
Tests of a start itself are marked `real_start`; commands that a person types are always started as they are.

Run as a program with the number of a socket, this file is the process that forks.
"""

import ctypes
import fcntl
import gc
import importlib
import inspect
import json
import multiprocessing.util
import os
import random
import runpy
import signal
import socket
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from unittest import mock

import glassformer

MODULES = (
    "glassformer.workbench.worker",
    "glassformer.workbench.training_process",
    "glassformer.engine.worker",
)
# What execnet starts for pytest-xdist, and how the process that forks for `multiprocessing` begins.
BOOTSTRAP = "import sys;exec(eval(sys.stdin.readline()))"
FORKSERVER = "from multiprocessing.forkserver import main;"
TORCH = ("torch._dynamo", "torch.distributed.fsdp")  # the former is imported by the first optimizer
PRELOADED = [
    *TORCH,
    "glassformer.tasks.language_modelling",
    "glassformer.tasks.translation",
    "glassformer.training.commands",
    "glassformer.training.recipe",
    "glassformer.workbench.runner",
]
CONTEXT = multiprocessing.get_context(
    "forkserver"
)  # for functions of a test, as `CONTEXT.Process(target=...)`
CONTEXT.set_forkserver_preload(PRELOADED)
# Read while Python starts or a library is imported: what differs there needs a real start.
EARLY = ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "ATEN_CPU_CAPABILITY", "PYTHONHASHSEED", "PYTHONUTF8")
LARGEST = 1 << 18  # bytes of a request
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
ABOVE = 500  # file descriptors that no process here uses
PR_SET_CHILD_SUBREAPER = 36


active = True  # False during a test that is marked `real_start`


class Call(NamedTuple):
    """`python [-P] -m module arguments`; of a program in words the module is `-c`."""

    module: str
    arguments: list[str]
    safe_path: bool


def read_call(command: object) -> Call | None:
    """What a command runs, if it is one of `MODULES`."""
    if isinstance(command, str) or not isinstance(command, Sequence) or command[:1] != [sys.executable]:
        return None
    words = [str(word) for word in command[1:]]
    if words == ["-u", "-c", BOOTSTRAP]:
        return Call("-c", [BOOTSTRAP], safe_path=False)
    safe_path = words[:1] == ["-P"]
    words = words[safe_path:]
    if words[:1] != ["-m"] or words[1] not in MODULES:
        return None
    return Call(words[1], words[2:], safe_path)


@contextmanager
def fork_starts(*, here: bool = False) -> Iterator[None]:
    """Let processes of the product be forked while the context lasts; on Linux alone.

    `here`: from this process, which has one thread and has imported torch.
    """
    if sys.platform != "linux":
        yield
        return
    server = ready or _Server(here)
    start = inspect.signature(subprocess.Popen._execute_child)  # type: ignore[attr-defined]

    class Forked(subprocess.Popen[Any]):
        def _execute_child(self, *given: Any) -> None:
            words = start.bind(self, *given).arguments
            command = words["args"]
            call = read_call(list(command) if isinstance(command, (list, tuple)) else command)
            environment = os.environ if words["env"] is None else words["env"]
            if not active or call is None or not server.fits(environment):
                super()._execute_child(*given)  # type: ignore[misc]
                return
            pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
            standard = [words[pipe] for pipe in ("p2cread", "c2pwrite", "errwrite")]
            places = {number: number if pipe == -1 else pipe for number, pipe in enumerate(standard)} | {
                number: number for number in words["pass_fds"]
            }
            request = {
                "call": call,
                "environment": dict(environment),
                "folder": os.path.abspath(words["cwd"] or "."),
                "session": words["start_new_session"],
                "numbers": list(places),
            }
            self.pid = server.start(request, list(places.values()))
            self._child_created = True
            self._close_pipe_fds(*(words[pipe] for pipe in pipes))  # type: ignore[attr-defined]

    spawn = multiprocessing.util.spawnv_passfds

    def fork_server(path: Any, arguments: Any, files: Sequence[int]) -> int:
        code = os.fsdecode(arguments[-1])
        if not code.startswith(FORKSERVER) or not server.fits(os.environ):
            return int(spawn(path, arguments, files))
        numbers = [0, 1, 2, *files]
        request = {
            "call": Call("-c", [code], safe_path=False),
            "environment": dict(os.environ),
            "folder": os.getcwd(),
            "session": False,
            "numbers": numbers,
        }
        return server.start(request, numbers)

    with (
        server,
        mock.patch.object(subprocess, "Popen", Forked),
        mock.patch.object(multiprocessing.util, "spawnv_passfds", fork_server),
    ):
        yield


class _Server:
    """The process that forks, started with the first request."""

    def __init__(self, here: bool) -> None:
        homes = (str(Path(glassformer.__file__).parents[1]), str(Path(__file__).parent))
        path = os.pathsep.join(filter(None, (*homes, os.environ.get("PYTHONPATH"))))
        self._environment = {**os.environ, **OFFLINE, "PYTHONPATH": path}
        self._here = here
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._process = 0

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        if self._socket is not None:
            self._socket.close()
            os.kill(self._process, signal.SIGKILL)  # nothing of it has to be put in order
            os.waitpid(self._process, 0)

    def take(self, line: socket.socket, process: int) -> None:
        """Use a process that forks already."""
        self._socket, self._process = line, process

    def fits(self, environment: Mapping[str, str]) -> bool:
        """Whether such a process can be forked."""
        return all(environment.get(name) == self._environment.get(name) for name in EARLY)

    def start(self, request: Mapping[str, Any], files: Sequence[int]) -> int:
        """The number of the process, which is a child of this one."""
        with self._lock:
            if self._socket is None:
                self._socket = self._open()
            _adopt(True)
            try:
                socket.send_fds(self._socket, [json.dumps(request).encode()], files)
                return int(self._socket.recv(64))
            finally:
                _adopt(False)

    def _open(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            if not self._here:
                theirs.set_inheritable(True)
                command = [sys.executable, "-P", __file__, str(theirs.fileno())]
                self._process = os.posix_spawn(sys.executable, command, self._environment)
            elif (process := os.fork()) != 0:
                self._process = process
            else:
                _serve_here(theirs)
        return ours


ready: _Server | None = None  # in a process of pytest-xdist: what was forked beside it


def _adopt(adopting: bool) -> None:
    """Whether a process whose parent ends becomes a child of this one: the new one's parent ends at once."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(adopting), 0, 0, 0)


def serve_forks(line: socket.socket, preload: Callable[[], None]) -> dict[str, Any] | None:
    """Fork until the socket is closed. In the new process: what it is to be."""
    while True:
        text, files, _, _ = socket.recv_fds(line, LARGEST, 64)
        if not text:
            line.close()
            return None
        request: dict[str, Any] = json.loads(text)
        if request["call"][1] != [BOOTSTRAP]:  # pytest imports what it rewrites by itself
            preload()
        told, tell = os.pipe()
        middle = os.fork()
        if middle == 0:
            if os.fork() == 0:
                if request["session"]:
                    os.setsid()  # before its number is known: who has it may signal the group
                os.write(tell, str(os.getpid()).encode())
                line.detach()
                _place_files(files, request["numbers"])
                return request
            os._exit(0)
        os.waitpid(middle, 0)  # the new process has another parent now
        line.send(os.read(told, 64))
        for file in (told, tell, *files):
            os.close(file)


def _place_files(files: Sequence[int], numbers: Sequence[int]) -> None:
    high = [fcntl.fcntl(file, fcntl.F_DUPFD, ABOVE) for file in files]
    os.closerange(3, ABOVE)
    for file, number in zip(high, numbers, strict=True):
        os.dup2(file, number)
        os.close(file)


def become(request: Mapping[str, Any], path: Sequence[str]) -> None:
    """Run the module as `python -m` does in a new process."""
    module, arguments, safe_path = request["call"]
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    known = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path[:] = [*([] if safe_path else [os.getcwd()]), *known, *path]
    through = "PYTHONUNBUFFERED" in os.environ
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.stdout.reconfigure(write_through=through)
    sys.stderr.reconfigure(line_buffering=True)
    random.seed()
    sys.argv = [module, *arguments]
    if module == "-c":
        sys.modules["__main__"] = program = types.ModuleType("__main__")
        exec(arguments[0], vars(program))
        return
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _serve(line: socket.socket, preload: Callable[[], None]) -> NoReturn:
    """Fork; each new process runs what it was asked to run."""
    known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    path = [entry for entry in sys.path if entry not in known]
    while (request := serve_forks(line, preload)) is not None:
        if request["call"][1] != [BOOTSTRAP]:
            become(request, path)
            break
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        process = os.fork()
        if process != 0:
            theirs.close()
            _prepare(ours, process)
            become(request, path)
            break
        ours.close()
        line = theirs  # a process that forks for the new one, and keeps none of its pipes open
        with open(os.devnull, "r+b", buffering=0) as nothing:
            for number in (0, 1):
                os.dup2(nothing.fileno(), number)
    sys.exit()


def _prepare(line: socket.socket, process: int) -> None:
    """Let tests in this process find what forks for it."""
    import forking  # a module of its own: this one is the program

    forking.ready = forking._Server(here=False)
    forking.ready.take(line, process)


def _serve_here(line: socket.socket) -> NoReturn:
    """Fork from a copy of this process, and leave nothing of what it was doing to be undone."""
    number = line.fileno()
    os.closerange(3, number)
    os.closerange(number + 1, ABOVE)
    try:
        _serve(line, lambda: None)
    except SystemExit:
        os._exit(0)
    finally:
        os._exit(1)


def main() -> None:
    """Import what takes long, then fork."""
    _import(TORCH)
    _serve(socket.socket(fileno=int(sys.argv[1])), partial(_import, tuple(PRELOADED)))


@cache
def _import(modules: tuple[str, ...]) -> None:
    for module in modules:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    main()
