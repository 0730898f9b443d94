"""Processes that train: started, stopped, killed, found again; a stand-in trains, and once the real one."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import recipe_mutants
import training_stand_in
from glassformer.api.training import ForkRequest, ResumeRequest, StartRequest
from glassformer.errors import ApiError
from glassformer.runlog import Event, RunWriter, is_run, read_run
from glassformer.workbench import LocalTrainer, TrainerSettings
from training_stand_in import wait

LONG = {"steps": 100_000, "schedule": "constant", "rate": 1e-3, "save_every": 10, "evaluate_every": 100_000}
RECIPE: dict[str, Any] = {**recipe_mutants.RECIPE, "train": LONG}
Build = Callable[..., LocalTrainer]


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "text.txt").write_text("The quick brown fox jumps over the lazy dog.\n" * 40)
    built: list[LocalTrainer] = []

    def make(**settings: Any) -> LocalTrainer:
        trainer = LocalTrainer(TrainerSettings(runs=tmp_path / "runs", data=tmp_path / "data", **settings))
        trainer.command = (sys.executable, training_stand_in.__file__)
        built.append(trainer)
        return trainer

    yield make
    for trainer in built:
        for child in trainer._children.values():
            with suppress(ProcessLookupError):
                os.killpg(child.process.pid, signal.SIGKILL)
            child.process.wait()


def refused(act: Callable[[], object], code: str, status: int) -> ApiError:
    with pytest.raises(ApiError) as error:
        act()
    assert error.value.message.code == f"workbench.training.{code}"
    assert error.value.status == status
    return error.value


def start(name: str = "first", **changes: Any) -> StartRequest:
    return StartRequest(name=name, recipe=RECIPE, changes=changes)


@pytest.mark.slow
def test_a_run_is_started_stopped_resumed_forked_and_removed(build: Build, tmp_path: Path) -> None:
    trainer = build()
    assert trainer.start(start()).state == "starting"
    wait(trainer, "first", "running")
    refused(lambda: trainer.start(start("second")), "busy", 409)
    refused(lambda: trainer.start(start()), "name_taken", 409)
    refused(lambda: trainer.resume("first", ResumeRequest()), "is_running", 409)
    refused(lambda: trainer.remove("first"), "is_running", 409)
    assert trainer.stop("first").state == "stopping"
    wait(trainer, "first", "ended")
    assert read_run(tmp_path / "runs" / "first").state == "stopped"
    assert (tmp_path / "runs" / "first" / "output.log").is_file()
    refused(lambda: trainer.stop("first"), "not_running", 409)
    assert trainer.recipe_of("first").steps == (10,)
    assert trainer.recipe_of("first").tables["task"]["folder"] == "."

    trainer.resume("first", ResumeRequest(changes={"monitor.every": 7}))
    wait(trainer, "first", "running")
    given = json.loads((tmp_path / "runs/first/checkpoints/step-00000010/training.json").read_text())
    assert given["resume"] is True
    assert given["toml"] is None
    assert given["changes"] == {"monitor.every": 7, "task.folder": str(tmp_path / "data")}
    trainer.stop("first")
    wait(trainer, "first", "ended")

    refused(lambda: trainer.fork("first", ForkRequest(name="other", step=3)), "no_state", 409)
    change = ForkRequest(name="other", changes={"model.layers": 2})
    refused(lambda: trainer.fork("first", change), "fork_changes", 422)
    trainer.fork("first", ForkRequest(name="other", step=10, changes={"train.rate": 1e-4}))
    wait(trainer, "other", "running")
    trainer.stop("other")
    wait(trainer, "other", "ended")
    trainer.remove("other")
    assert not (tmp_path / "runs" / "other").exists()
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["first"]


@pytest.mark.slow
def test_a_run_that_does_not_stop_is_killed(build: Build, tmp_path: Path) -> None:
    trainer = build(stop_seconds=0.5)
    trainer.start(start("stubborn"))
    wait(trainer, "stubborn", "running")
    trainer.stop("stubborn")
    wait(trainer, "stubborn", "ended")
    assert read_run(tmp_path / "runs" / "stubborn").state == "killed"


@pytest.mark.slow
def test_a_run_that_is_stopping_gets_no_second_signal(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build()
    first.start(start())
    wait(first, "first", "running")
    sent: list[int] = []
    monkeypatch.setattr("glassformer.workbench.trainer._signal", lambda _, which: sent.append(which))
    second = build()  # a server that did not start the run
    for trainer in (first, second):
        sent.clear()
        assert [trainer.stop("first").state for _ in range(3)] == ["stopping"] * 3
        assert sent == [signal.SIGTERM]
        assert [each.state for each in trainer.trainings()] == ["stopping"]


@pytest.mark.slow
def test_what_fails_before_it_begins_leaves_its_message_and_nothing_else(
    build: Build, tmp_path: Path
) -> None:
    trainer = build()
    trainer.start(start("broken"))
    failed = wait(trainer, "broken", "failed")
    assert failed.problem is not None
    assert failed.problem.code == "training.recipe.run_name"
    assert list((tmp_path / "runs").iterdir()) == []
    trainer.start(start("broken"))  # the name is free


@pytest.mark.slow
def test_a_server_that_was_started_again_knows_what_trains(build: Build) -> None:
    first = build()
    first.start(start())
    wait(first, "first", "running")
    second = build()
    assert [(each.id, each.state) for each in second.trainings()] == [("first", "running")]
    refused(lambda: second.start(start("second")), "busy", 409)
    refused(lambda: second.remove("first"), "is_running", 409)
    second.stop("first")
    wait(first, "first", "ended")
    assert second.trainings() == []


def test_slow_checks_and_removals_do_not_block_others(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = build()
    usual = {f"{table}.{key}": value for table, values in RECIPE.items() for key, value in values.items()}
    make_run(tmp_path / "runs" / "old", usual)
    free: list[bool] = []

    def take() -> bool:
        taken = trainer._lock.acquire(blocking=False)
        if taken:
            trainer._lock.release()
        return taken

    def look(*_: object, **__: object) -> None:
        with ThreadPoolExecutor(1) as pool:
            free.append(pool.submit(take).result())
        raise ApiError("api.no_training")

    monkeypatch.setattr(trainer.rules, "require", look)
    monkeypatch.setattr("shutil.rmtree", look)
    for act in (
        lambda: trainer.start(start()),
        lambda: trainer.resume("old", ResumeRequest()),
        lambda: trainer.fork("old", ForkRequest(name="new")),
        lambda: trainer.remove("old"),
    ):
        with pytest.raises(ApiError):
            act()
    assert free == [True] * 4


@pytest.mark.slow
def test_several_runs_at_a_time(build: Build) -> None:
    trainer = build(jobs=2)
    for name in ("a", "b"):
        trainer.start(start(name))
    refused(lambda: trainer.start(start("c")), "busy", 409)


@pytest.mark.slow
def test_memory_is_watched(build: Build) -> None:
    trainer = build()
    trainer.rules.memory = 1 << 40  # the estimate is not what ends it
    object.__setattr__(trainer, "settings", TrainerSettings(trainer.runs, trainer.places.data, memory=1))
    trainer.start(start())
    failed = wait(trainer, "first", "failed")
    assert failed.problem is not None
    assert failed.problem.code == "workbench.training.memory"


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "a/b",
        "../a",
        "/a",
        ".hidden",
        "a\0",
        "a b",
        "-a",
        "a" * 81,
        "e\u0301",
        "a.",
        "a\n",
        "~a",
    ],
)
def test_names_that_no_run_may_have(build: Build, tmp_path: Path, name: str) -> None:
    trainer = build()
    refused(lambda: trainer.start(start(name)), "wrong_name", 422)
    refused(lambda: trainer.remove(name), "no_run", 404)
    refused(lambda: trainer.stop(name), "no_run", 404)
    assert not (tmp_path / "runs").exists()


def test_a_refused_recipe_starts_and_writes_nothing(build: Build, tmp_path: Path) -> None:
    trainer = build()
    with pytest.raises(ApiError) as error:
        trainer.start(start(**{"task.path": "/etc/passwd"}))
    assert error.value.message.code == "recipe.refused"
    assert error.value.status == 422
    assert not (tmp_path / "runs").exists()
    assert trainer.trainings() == []


def make_run(folder: Path, settings: dict[str, Any], recipe: str = "") -> None:
    """A run as a terminal made it."""
    with RunWriter(folder) as writer:
        writer.write_event(Event(0, "started", "It began."))
        writer.write_event(Event(9, "stopped", "It stopped."))
    (folder / "settings.json").write_text(json.dumps(settings))
    (folder / "recipe.toml").write_text(recipe)
    (folder / "checkpoints" / "step-00000009").mkdir(parents=True)
    (folder / "checkpoints" / "step-00000009" / "training.json").write_text("{}")


@pytest.mark.parametrize(
    ("settings", "recipe", "field"),
    [
        ({"monitor.on_alarm": "touch /tmp/seen"}, "", "monitor.on_alarm"),
        ({"plugins": ["mine.py"]}, "", "plugins"),
        ({"plugins.files": ["mine.py"]}, "", "plugins"),
        ({}, 'plugins = ["mine.py"]', "plugins"),
        ({"task.folder": "/etc"}, "", "task.path"),
        ({"task.path": "../outside.txt"}, "", "task.path"),
        ({"model.start": "/etc"}, "", "model.start"),
        ({"monitor.callbacks": ["wandb"]}, "", "monitor.callbacks"),
    ],
)
def test_a_run_of_a_terminal_is_resumed_only_if_it_could_have_been_started_here(
    build: Build, tmp_path: Path, settings: dict[str, Any], recipe: str, field: str
) -> None:
    trainer = build()
    usual = {f"{table}.{key}": value for table, values in RECIPE.items() for key, value in values.items()}
    usual |= {"task.folder": str(tmp_path / "data")}
    make_run(tmp_path / "runs" / "old", {**usual, **settings}, recipe)
    for act in (
        lambda: trainer.resume("old", ResumeRequest()),
        lambda: trainer.fork("old", ForkRequest(name="new")),
    ):
        with pytest.raises(ApiError) as error:
            act()
        assert error.value.message.code == "recipe.refused"
        assert error.value.message.parameters["field"] == field
    assert trainer.trainings() == []
    assert not (tmp_path / "runs" / "new").exists()


def test_a_link_is_no_run(build: Build, tmp_path: Path) -> None:
    trainer = build()
    make_run(tmp_path / "elsewhere", {})
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "elsewhere")
    refused(lambda: trainer.remove("link"), "no_run", 404)
    refused(lambda: trainer.start(start("link")), "name_taken", 409)
    assert is_run(tmp_path / "elsewhere")


def test_a_run_without_settings_cannot_be_resumed(build: Build, tmp_path: Path) -> None:
    trainer = build()
    make_run(tmp_path / "runs" / "old", {})
    (tmp_path / "runs" / "old" / "settings.json").write_text("[")
    refused(lambda: trainer.resume("old", ResumeRequest()), "no_settings", 409)
