"""What `make run` installs: known versions side by side, and what pip looks for where they are not enough."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
PYTHON = """#!/bin/sh
echo "$*" >>"$LOG"
case "$*" in *"$FAILS"*) exit 1;; esac
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script over two packages, in an environment whose Python only writes down what it is asked."""
    specification = spec_from_file_location("install", ROOT / "deploy" / "install.py")
    assert specification is not None
    assert specification.loader is not None
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "requirements.txt").write_text("small==1.0 \\\n  --hash=sha256:0\ntorch==2.0 \\\n")
    python = tmp_path / "new" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(PYTHON)
    python.chmod(0o755)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    return module


def read_calls(folder: Path) -> list[str]:
    return sorted((folder / "log").read_text().splitlines())


@pytest.mark.parametrize(
    ("fails", "more"),
    [
        ("nothing", []),
        ("small==1.0", ["-c constraints.txt --editable ."]),  # no such file for this machine
        ("list_needs", ["-c constraints.txt --editable ."]),  # something is missing all the same
        ("web/build.py", ["--no-deps --editable ."]),  # there is no Node
    ],
)
def test_what_is_not_there_is_looked_for(
    install: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str, more: list[str]
) -> None:
    monkeypatch.setenv("FAILS", fails)
    assert install.install(tmp_path / "new")
    pip = "-m pip install --quiet --disable-pip-version-check --no-compile"
    known = [f"{pip} --no-deps {words}" for words in ("--editable .", "small==1.0", "torch==2.0")]
    calls = read_calls(tmp_path)
    asked = [call for call in calls if call.startswith("-m")]
    assert asked == sorted([*known, *(f"{pip} {words}" for words in more)])
    assert "web/build.py" in calls


def test_what_cannot_be_had_ends_it(
    install: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAILS", "pip")
    assert not install.install(tmp_path / "new")


def test_without_an_environment_nothing_is_installed(
    install: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "new" / "bin" / "python"))
    monkeypatch.setenv("FAILS", "venv")  # as on a Debian without python3-venv
    assert not install.install(tmp_path / "other")
    assert not any("pip" in call for call in read_calls(tmp_path))


def test_a_person_hears_what_goes_on(
    install: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install, "PAUSE", 0)
    for here in ("a_small.one-1.0.dist-info", "pip-26.0.dist-info"):  # pip is in every new environment
        (tmp_path / "new" / "lib" / "python3" / "site-packages" / here).mkdir(parents=True)
    gate = tmp_path / "gate"
    wait = "import pathlib, sys, time\nwhile not pathlib.Path(sys.argv[1]).exists(): time.sleep(0.01)"
    step = install.Step("a large one", [sys.executable, "-c", wait, str(gate)])
    said: list[str] = []
    monkeypatch.setattr(install, "say", lambda text: (said.append(text), gate.touch()))
    install.watch([step], tmp_path / "new", {"A-Small-One", "large"})
    assert set(said[:-1]) == {"  1 of 2 packages are installed; still running: a large one"}
    assert said[-1] == "  a large one: done"
