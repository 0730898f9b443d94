"""Whatever ends a run, it goes on as if nothing had happened, or says why it cannot."""

import errno
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from campaigns import rounds
from glassformer.errors import TrainingError
from glassformer.runlog import SCALARS, read_run
from glassformer.tasks.language_modelling import LanguageModelling
from glassformer.training import checkpoints
from glassformer.training.recipe import train
from training.runs import assert_same

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    ["glassformer.training.recipe", "glassformer.tasks.language_modelling", "glassformer.tasks.translation"]
)


@pytest.mark.parametrize(
    ("kind", "average"),
    [
        ("recipe", []),
        ("recipe", ["train.ema=0.9", "train.accumulate=2"]),
        ("translation", ["task.word_dropout=0.1"]),
    ],
)
@pytest.mark.long
def test_killed_at_any_moment_it_resumes_to_the_same_losses(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, average: list[str]
) -> None:
    recipe: Path = request.getfixturevalue(kind)
    kills = rounds(3, 50)
    overrides = [f"train.steps={10 * kills}", *average]
    train(recipe, overrides, runs=tmp_path, name="whole", silent=True)
    moments = random.Random(len(average))
    killed = 0
    for attempt in range(kills + 26):
        arguments = {"resume": True, "runs": tmp_path, "name": "killed", "silent": True}
        process = CONTEXT.Process(target=train, args=(recipe, overrides), kwargs=arguments)
        process.start()
        if attempt < kills:
            wait_for_lines(tmp_path / "killed" / SCALARS, moments.randint(3, 12), process)
            time.sleep(moments.random() * 0.03)  # anywhere: in a step, in a checkpoint, between two writes
            os.kill(process.pid or 0, signal.SIGKILL)
        process.join()
        killed += process.exitcode == -signal.SIGKILL
        if process.exitcode == 0:
            break
    assert killed >= (kills + 3) // 4
    assert process.exitcode == 0
    assert_same(tmp_path / "killed", tmp_path / "whole")


def wait_for_lines(path: Path, lines: int, process: multiprocessing.process.BaseProcess) -> None:
    """Until a run has written so many more lines."""
    wanted = lines + (path.read_bytes().count(b"\n") if path.is_file() else 0)
    while process.is_alive() and (not path.is_file() or path.read_bytes().count(b"\n") < wanted):
        time.sleep(0.002)


@pytest.mark.parametrize("step", [1, 3, 4, 7])
def test_stopped_after_any_step_it_resumes_to_the_same_losses(
    recipe: Path, tmp_path: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(recipe, runs=tmp_path, name="whole", silent=True)
    with dying_in_step(monkeypatch, step + 1), pytest.raises(MemoryError):
        train(recipe, runs=tmp_path, name="halved", silent=True)
    train(recipe, resume=True, runs=tmp_path, name="halved", silent=True)
    assert_same(tmp_path / "halved", tmp_path / "whole")


@contextmanager
def dying_in_step(monkeypatch: pytest.MonkeyPatch, step: int) -> Iterator[None]:
    calls = 0
    loss = LanguageModelling.loss

    def die(self: LanguageModelling, *arguments: object, **others: object) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if calls == step:
            raise MemoryError
        return loss(self, *arguments, **others)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(LanguageModelling, "loss", die)
        yield


def test_a_disk_that_fills_up_later_leaves_what_was_before(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(recipe, runs=tmp_path, name="whole", silent=True)
    save_file = checkpoints.save_file
    calls = 0

    def fill_up(tensors: dict[str, torch.Tensor], path: Path) -> None:
        nonlocal calls
        calls += 1
        save_file(tensors, path)
        if calls == 3:
            path.write_bytes(path.read_bytes()[:100])  # half a file
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(checkpoints, "save_file", fill_up)
        with pytest.raises(TrainingError, match=r"No space left.*step-00000004 is intact.*--resume"):
            train(recipe, runs=tmp_path, name="full", silent=True)
    assert (tmp_path / "full" / "last").resolve().name == "step-00000004"
    assert [path.name for path in (tmp_path / "full" / "checkpoints").iterdir()] == ["step-00000004"]
    train(recipe, resume=True, runs=tmp_path, name="full", silent=True)
    assert_same(tmp_path / "full", tmp_path / "whole")


def test_a_loss_that_is_no_number_ends_the_run_before_it_is_saved(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(recipe, runs=tmp_path, name="whole", silent=True)
    loss = LanguageModelling.loss
    calls = 0

    def spoil(self: LanguageModelling, *arguments: object, **others: object) -> torch.Tensor:
        nonlocal calls
        calls += 1
        return loss(self, *arguments, **others) * (float("nan") if calls == 6 else 1.0)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(LanguageModelling, "loss", spoil)
        with pytest.raises(TrainingError, match=r"At step 6 the loss was nan.*step-00000004; --resume"):
            train(recipe, ["train.log_every=5"], runs=tmp_path, name="spoilt", silent=True)
    log = read_run(tmp_path / "spoilt")
    assert log.state == "failed"
    assert log.last_step == 6
    train(recipe, resume=True, runs=tmp_path, name="spoilt", silent=True)
    assert_same(tmp_path / "spoilt", tmp_path / "whole")


def test_other_data_is_refused(recipe: Path, tmp_path: Path) -> None:
    train(recipe, ["train.steps=3"], runs=tmp_path, silent=True)
    text = tmp_path / "train.txt"
    text.write_text(text.read_text()[:-200])
    with pytest.raises(TrainingError, match="examples; it had"):
        train(recipe, ["train.steps=3"], resume=True, runs=tmp_path, silent=True)
