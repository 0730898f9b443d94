"""Running and killed are told apart: after kill -9, by a number that was given again, from elsewhere."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from glassformer.runlog import Event, RunWriter, alive, read_run
from glassformer.runlog.alive import RUNNING, Heartbeat, describe_process, hold_run, is_alive

WRITE = """
import sys, time
from glassformer.runlog import Event, RunWriter
writer = RunWriter(sys.argv[1])
writer.write_event(Event(0, "started", "Go."))
print("ready", flush=True)
time.sleep(600)
"""


def test_a_process_is_alive_until_it_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITE, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert is_alive(tmp_path)
        assert read_run(tmp_path).state == "running"
        process.send_signal(signal.SIGSTOP)  # a process that waits is not dead
        assert is_alive(tmp_path)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not is_alive(tmp_path)  # a zombie is dead, too
    assert not is_alive(tmp_path)
    assert read_run(tmp_path).state == "killed"
    assert (tmp_path / RUNNING).is_file()


def test_whoever_closes_a_run_without_an_end_leaves_it_killed(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        writer.write_event(Event(0, "started", "Go."))
        assert read_run(tmp_path).state == "running"
    assert read_run(tmp_path).state == "killed"
    with RunWriter(tmp_path) as writer:
        writer.write_event(Event(0, "resumed", "Go."))
        writer.write_event(Event(3, "finished", "Done."))
        assert read_run(tmp_path).state == "finished"


@pytest.mark.parametrize(
    ("change", "age", "alive"),
    [
        ({}, 0, True),
        ({"started": 12}, 0, False),  # the number was given again
        ({"process": 2**22 + 1}, 0, False),
        ({"machine": "another boot"}, 30, True),
        ({"machine": "another boot"}, 500, False),
        ({"machine": None, "started": None}, 30, True),  # a system that tells nothing
        ({"machine": None, "started": None}, 500, False),
    ],
)
def test_who_is_alive(tmp_path: Path, change: dict[str, object], age: float, alive: bool) -> None:
    path = tmp_path / RUNNING
    path.write_text(json.dumps(describe_process() | change))
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime - age))
    assert is_alive(tmp_path) == alive


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"process": "x"}'])
def test_a_broken_file_is_no_sign_of_life(tmp_path: Path, content: str) -> None:
    (tmp_path / RUNNING).write_text(content)
    assert not is_alive(tmp_path)


def test_the_file_is_touched_while_the_process_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alive, "BEAT", 0.01)
    with Heartbeat(tmp_path) as heartbeat:
        os.utime(heartbeat.path, (1, 1))
        while heartbeat.path.stat().st_mtime == 1:
            pass
    assert not heartbeat.path.exists()


def test_one_process_holds_a_run_and_a_disk_without_locks_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")
    with hold_run(tmp_path) as first, hold_run(tmp_path) as second:
        assert (first, second) == (True, False)
    with hold_run(tmp_path) as again:
        assert again

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with hold_run(tmp_path) as unlocked:
        assert unlocked
