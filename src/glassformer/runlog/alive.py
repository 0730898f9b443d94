"""Whether the process that trains a run is alive: a small file that it writes, and touches while it lives.

In:   the folder of a run.
Out:  `running.json` while the process lives: its number, when it started, the machine; `is_alive`.

On the machine of the process the answer is exact: a process with this number must have started at the same
time, which is false after `kill -9`, a reboot, or when the number was given again. From another machine or
container that shares the folder, the file must have been touched in the last minutes.
"""

import json
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

RUNNING, LOCK = "running.json", ".lock"
BEAT = 10.0  # seconds between two touches
LOST = 120.0  # seconds without a touch: a process elsewhere is dead; clocks must differ by less


@contextmanager
def hold_run(folder: Path) -> Iterator[bool]:
    """Keep other processes from training or removing a run; False where another one holds it.

    It ends with the process, however it ends. Where the system or its disk has no locks, it is always True.
    """
    with (folder / LOCK).open("a") as lock:
        yield try_lock(lock.fileno())


def try_lock(number: int) -> bool:
    """Lock an open file or folder for this process; False where another process has locked it."""
    try:
        import fcntl

        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):  # a system, or a disk, without locks
        pass
    return True


class Heartbeat:
    """Tells others that this process writes a run, until it is closed or the process ends."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / RUNNING
        self._end = threading.Event()
        new = self.path.with_name(f".{RUNNING}")
        with suppress(OSError):  # a full disk: what is written to the log will say so
            new.write_text(json.dumps(describe_process()), encoding="utf-8")
            os.replace(new, self.path)
        self._thread = threading.Thread(target=self._beat, name="heartbeat of a run", daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._end.wait(BEAT):
            with suppress(OSError):
                os.utime(self.path)

    def close(self) -> None:
        self._end.set()
        self._thread.join()
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def describe_process() -> dict[str, Any]:
    """This process, so that no other one, here or elsewhere, now or later, is the same."""
    return {
        "process": os.getpid(),
        "started": _start_time(os.getpid()),
        "machine": _identify_machine(),
        "host": socket.gethostname(),
    }


def is_alive(folder: Path) -> bool:
    """Whether the process that wrote `running.json` lives."""
    process = _read_process(folder)
    if process is None:
        return False
    if _is_of_this_machine(process):
        return _lives(process)
    try:
        touched = (folder / RUNNING).stat().st_mtime
    except OSError:
        return False
    return time.time() - touched < LOST


def find_process(folder: Path) -> int | None:
    """The number of the process of this machine that writes a run; None where there is none."""
    process = _read_process(folder)
    here = process is not None and _is_of_this_machine(process) and _lives(process)
    return int(process["process"]) if process is not None and here else None


def _read_process(folder: Path) -> dict[str, Any] | None:
    try:
        process = json.loads((folder / RUNNING).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole = isinstance(process, dict) and {"process", "started", "machine"} <= process.keys()
    return process if whole else None


def _is_of_this_machine(process: Mapping[str, Any]) -> bool:
    machine = process["machine"]
    return machine is not None and machine == _identify_machine() and isinstance(process["process"], int)


def _lives(process: Mapping[str, Any]) -> bool:
    return process["started"] is not None and process["started"] == _start_time(process["process"])


def _identify_machine() -> str | None:
    """This boot of this machine, and the space in which its processes are numbered; None where unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return None


def _start_time(process: int) -> int | None:
    """When a process started, in ticks since the machine did; None where there is none, or it is dead."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # behind the name, which may hold anything
    return None if fields[0] in ("Z", "X") else int(fields[19])
