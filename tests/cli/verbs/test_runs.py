"""`glassformer runs`."""

import json
import os
import pty
import select
import shutil
from pathlib import Path

import pytest

from cli.conftest import Command
from glassformer import cli
from glassformer.runlog import Event, RunWriter
from glassformer.runlog.alive import LOCK


@pytest.mark.slow
def test_runs_are_listed_and_drawn(recipe: Path, run: Command, complain: Command) -> None:
    assert "no runs here yet" in run("runs")
    run("train", recipe, "--name", "first")
    assert run("runs").splitlines()[1].split()[:3] == ["first", "finished", "6"]
    assert "dev_loss" in run("runs")
    run("train", recipe, "--name", "second", "--set", "train.best_by=bits_per_byte")
    [told] = [line for line in run("runs").splitlines() if line.startswith("second")]
    shutil.rmtree(Path("runs") / "second")
    assert "dev_bits_per_byte" in told
    drawn = run("runs", "first")
    assert "first: finished, step 6" in drawn
    assert "decoder layer 0, self" in drawn
    [told] = json.loads(run("runs", "--json"))
    assert (told["run"], told["step"]) == ("first", 6)
    assert json.loads(run("runs", "first", "--json")) == told
    assert run("runs", Path("runs") / "first") == drawn
    assert "Did you mean 'first'?" in complain("runs", "frist")


def write(name: str, loss: float, **settings: object) -> None:
    with RunWriter(Path("runs") / name) as writer:
        writer.write_event(Event(0, "started", "Go.", time=12.5))
        writer.write_scalars([(1, {"loss": loss})])
        writer.write_event(Event(1, "finished", "Done."))
    named = {key.replace("__", "."): value for key, value in settings.items()}
    (Path("runs") / name / "settings.json").write_text(json.dumps(named))


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("first", 3.0, train__rate=1e-3, train__steps=5)
    write("slower", 2.0, train__rate=1e-4, train__steps=5)


@pytest.mark.usefixtures("two")
def test_two_runs_are_compared(run: Command, complain: Command) -> None:
    drawn = run("runs", "diff", "first", "slower")
    assert "train.rate" in drawn
    assert "train.steps" not in drawn
    told = json.loads(run("runs", "diff", "first", "slower", "--json"))
    assert told["settings"] == {"train.rate": [1e-3, 1e-4]}
    assert told["results"]["loss"] == [3.0, 2.0]
    assert "same" in run("runs", "diff", "first", "first")
    assert "diff A B" in complain("runs", "diff", "first", "slower", "third")


@pytest.mark.usefixtures("two")
def test_json_has_settings_and_times(run: Command) -> None:
    told = json.loads(run("runs", "first", "--json"))
    assert told["settings"] == {"train.rate": 1e-3, "train.steps": 5}
    assert told["started"] == 12.5
    assert told["updated"] > 1.7e9


@pytest.mark.usefixtures("two")
def test_a_run_is_removed_only_on_purpose(
    run: Command, complain: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Add --yes" in complain("runs", "rm", "first")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: "n")
    assert "first stays" in run("runs", "rm", "first")
    assert Path("runs/first").is_dir()
    monkeypatch.setattr("builtins.input", lambda _: "y")
    assert "Removed first" in run("runs", "rm", "first")
    assert not Path("runs/first").exists()
    assert Path("runs/slower").is_dir()


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("name", ["../other", "..", ".", "/tmp", "a/b", "linked", "frist", "notes"])
def test_nothing_outside_the_folder_of_runs_is_removed(name: str, complain: Command) -> None:
    other = Path("other")
    shutil.copytree("runs/first", other)
    Path("runs/linked").symlink_to(other.absolute(), target_is_directory=True)
    Path("runs/notes").mkdir()
    complain("runs", "rm", "slower", name, "--yes")
    assert (other / "events.jsonl").is_file()
    assert Path("runs/slower").is_dir()  # all names are checked first
    assert Path("runs/notes").is_dir()


@pytest.mark.usefixtures("two")
def test_a_run_that_is_trained_is_not_removed(complain: Command) -> None:
    with RunWriter("runs/slower") as writer:
        writer.write_event(Event(1, "resumed", "Go."))
        assert "being trained right now" in complain("runs", "rm", "slower", "--yes")
    assert Path("runs/slower").is_dir()


@pytest.mark.usefixtures("two")
def test_a_run_that_begins_to_resume_is_not_removed(run: Command, complain: Command) -> None:
    fcntl = pytest.importorskip("fcntl")
    with (Path("runs/slower") / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "being trained right now" in complain("runs", "rm", "slower", "--yes")
        assert Path("runs/slower/events.jsonl").is_file()
    assert "Removed slower" in run("runs", "rm", "slower", "slower", "--yes")
    assert not Path("runs/slower").exists()


@pytest.mark.usefixtures("two")
def test_watching_draws_again_and_ends_with_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, complain: Command
) -> None:
    assert "terminal" in complain("runs", "--watch")
    main, other = pty.openpty()
    looks = 0

    def look(_: float) -> None:
        nonlocal looks
        looks += 1
        write("third", 1.0)
        if looks == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("glassformer.cli.verbs.runs.time.sleep", look)
    with os.fdopen(other, "w") as terminal, monkeypatch.context() as patched:
        patched.setattr("sys.stdout", terminal)
        patched.setenv("TERM", "xterm")
        assert cli.main(["runs", "--watch"]) == 0
        terminal.flush()
        seen = b""
        while select.select([main], [], [], 0)[0]:
            seen += os.read(main, 100_000)
    os.close(main)
    assert b"\x1b[?1049h" in seen  # a screen of its own …
    assert seen.index(b"\x1b[?1049l") < seen.rindex(b"third")  # … is left, and the last table stays
