"""The entry point of the command: an interrupt at any moment ends with 130 and no output."""

import subprocess
import sys
from pathlib import Path

import pytest

DURING_AN_IMPORT = """
import os, signal, time
os.kill(os.getpid(), signal.SIGINT)
time.sleep(0.1)
print("whole", flush=True)
"""
COMMAND = """
import sys
from glassformer import __main__, cli
from glassformer.cli.verb import Verb

def work(arguments):
    import torn
    while True:
        sum(range(1000))

cli.find_verbs = lambda: (Verb("work", work, summary="work for ever"),)
sys.argv = ["glassformer", "work"]
sys.exit(__main__.run())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals on Windows")
def test_an_import_is_not_torn_by_an_interrupt(tmp_path: Path) -> None:
    (tmp_path / "torn.py").write_text(DURING_AN_IMPORT)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n{COMMAND}"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "whole\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals on Windows")
def test_pressed_twice_it_does_not_wait(tmp_path: Path) -> None:
    twice = DURING_AN_IMPORT.replace(
        "time.sleep(0.1)", "os.kill(os.getpid(), signal.SIGINT)\ntime.sleep(600)"
    )
    (tmp_path / "torn.py").write_text(twice)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n{COMMAND}"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
