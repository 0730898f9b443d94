"""The process that really trains, as the server starts it."""

import time
from pathlib import Path

import pytest

from glassformer.api.training import ResumeRequest, StartRequest
from glassformer.runlog import find_process, is_run, read_run
from glassformer.workbench import LocalTrainer, TrainerSettings
from recipe_mutants import RECIPE
from training_stand_in import wait

LONG = {"steps": 100_000, "schedule": "constant", "rate": 1e-3, "save_every": 10, "evaluate_every": 100_000}
START = StartRequest(name="first", recipe={**RECIPE, "train": LONG})


@pytest.fixture
def trainer(tmp_path: Path) -> LocalTrainer:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "text.txt").write_text("The quick brown fox jumps over the lazy dog.\n" * 40)
    return LocalTrainer(TrainerSettings(runs=tmp_path / "runs", data=tmp_path / "data", stop_seconds=600))


@pytest.mark.slow
def test_the_real_process_trains_stops_and_resumes(trainer: LocalTrainer, tmp_path: Path) -> None:
    trainer.start(START)
    wait(trainer, "first", "running")
    assert find_process(tmp_path / "runs" / "first") is not None
    while not (is_run(tmp_path / "runs" / "first") and read_run(tmp_path / "runs" / "first").events):
        # stopped before, it leaves no log
        wait(trainer, "first", "running")
        time.sleep(0.01)
    trainer.stop("first")
    wait(trainer, "first", "ended")
    before = read_run(tmp_path / "runs" / "first")
    assert before.state == "stopped"
    trainer.resume("first", ResumeRequest(changes={"train.steps": before.last_step + 3}))
    wait(trainer, "first", "ended")
    after = read_run(tmp_path / "runs" / "first")
    assert after.state == "finished"
    assert after.last_step == before.last_step + 3


@pytest.mark.slow
@pytest.mark.real_start
def test_what_only_training_can_find_is_told_in_a_message(trainer: LocalTrainer, tmp_path: Path) -> None:
    (tmp_path / "data" / "text.txt").write_text("")
    trainer.start(START)
    failed = wait(trainer, "first", "failed")
    assert failed.problem is not None
    assert str(tmp_path) not in failed.problem.text("en")
    assert list((tmp_path / "runs").iterdir()) == []
