"""Whatever ends a run, it goes on as if nothing had happened, or says why it cannot."""

import errno
import multiprocessing
import os
import random
import resource
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from campaigns import rounds
from glassformer.errors import CheckpointError, TrainingError
from glassformer.runlog import SCALARS, RunLog, read_run
from glassformer.tasks.language_modelling import LanguageModelling
from glassformer.training import checkpoints
from glassformer.training.recipe import train

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    ["glassformer.training.recipe", "glassformer.tasks.language_modelling", "glassformer.tasks.translation"]
)


def losses(log: RunLog) -> list[tuple[int, float]]:
    return list(zip(log.scalars["loss"].steps.tolist(), log.scalars["loss"].values.tolist(), strict=True))


def weights(run: Path) -> dict[str, torch.Tensor]:
    return load_file(run / "last" / "training.safetensors")


def assert_same(run: Path, reference: Path) -> None:
    """The same losses, scores, alarms, head statistics and weights, bit for bit."""
    ours, theirs = read_run(run), read_run(reference)
    assert losses(ours) == losses(theirs)
    scores = theirs.scalars["dev_loss"]
    assert ours.scalars["dev_loss"].values.tolist() == scores.values.tolist()
    for place, history in theirs.heads.items():
        for name, values in history.statistics.items():
            np.testing.assert_array_equal(ours.heads[place].statistics[name], values)
    kept, expected = weights(run), weights(reference)
    assert kept.keys() == expected.keys()
    assert all(torch.equal(kept[name], expected[name]) for name in expected)


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


def test_asked_to_stop_it_saves_and_goes_on_later(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(recipe, runs=tmp_path, name="whole", silent=True)
    loss = LanguageModelling.loss
    calls = 0

    def ask(self: LanguageModelling, *arguments: object, **others: object) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if calls == 5:
            os.kill(os.getpid(), signal.SIGTERM)
        return loss(self, *arguments, **others)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(LanguageModelling, "loss", ask)
        outcome = train(recipe, runs=tmp_path, name="asked", silent=True)
    assert (outcome.step, outcome.ending) == (5, "interrupted")
    assert read_run(tmp_path / "asked").state == "stopped"
    train(recipe, resume=True, runs=tmp_path, name="asked", silent=True)
    assert_same(tmp_path / "asked", tmp_path / "whole")
    assert read_run(tmp_path / "asked").state == "finished"


def test_a_full_disk_leaves_the_last_checkpoint_intact(recipe: Path, tmp_path: Path) -> None:
    train(recipe, runs=tmp_path, name="whole", silent=True)
    process = CONTEXT.Process(target=_run_with_little_room, args=(recipe, tmp_path))
    process.start()
    process.join()
    log = read_run(tmp_path / "full")
    assert log.state == "failed"
    assert "could not be written" in log.events[-1].message
    assert "There was none before" in log.events[-1].message
    assert not list((tmp_path / "full" / "checkpoints").glob("*"))
    train(recipe, resume=True, runs=tmp_path, name="full", silent=True)
    assert_same(tmp_path / "full", tmp_path / "whole")


def _run_with_little_room(recipe: Path, runs: Path) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))  # as a full disk: no file grows beyond it
    train(recipe, runs=runs, name="full", silent=True)


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


def test_a_changed_recipe_is_refused_by_the_name_of_the_key(recipe: Path, tmp_path: Path) -> None:
    train(recipe, ["train.steps=3"], runs=tmp_path, silent=True)
    for change, said in (
        ("train.rate=1e-3", "train.rate was 0.005 and is 0.001"),
        ("model.heads=4", "model.heads was 2 and is 4"),
        ("task.context=20", "task.context was 16 and is 20"),
        ("train.clip=0.5", "train.clip was 1.0 and is 0.5"),
    ):
        with pytest.raises(TrainingError, match=said):
            train(recipe, ["train.steps=3", change], resume=True, runs=tmp_path, silent=True)
    with pytest.raises(TrainingError, match="already contains a run"):
        train(recipe, ["train.steps=3"], runs=tmp_path, silent=True)
    free = ["train.steps=3", "train.log_every=7", "train.patience=9"]
    assert train(recipe, free, resume=True, runs=tmp_path, silent=True).step == 3


def test_an_open_ended_schedule_may_be_continued(recipe: Path, tmp_path: Path) -> None:
    constant = ["train.schedule=constant"]
    train(recipe, constant, runs=tmp_path, name="whole", silent=True)
    train(recipe, [*constant, "train.steps=6"], runs=tmp_path, name="more", silent=True)
    train(recipe, constant, resume=True, runs=tmp_path, name="more", silent=True)
    assert losses(read_run(tmp_path / "more")) == losses(read_run(tmp_path / "whole"))


def test_other_data_is_refused(recipe: Path, tmp_path: Path) -> None:
    train(recipe, ["train.steps=3"], runs=tmp_path, silent=True)
    text = tmp_path / "train.txt"
    text.write_text(text.read_text()[:-200])
    with pytest.raises(TrainingError, match="examples; it had"):
        train(recipe, ["train.steps=3"], resume=True, runs=tmp_path, silent=True)


def test_a_damaged_checkpoint_is_named(recipe: Path, tmp_path: Path) -> None:
    train(recipe, ["train.steps=3"], runs=tmp_path, silent=True)
    (tmp_path / "tiny" / "last" / "training.safetensors").write_bytes(b"half")
    with pytest.raises(CheckpointError, match="step-00000003 is damaged"):
        train(recipe, ["train.steps=3"], resume=True, runs=tmp_path, silent=True)


def test_two_trainings_do_not_share_a_run(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loss = LanguageModelling.loss

    def intrude(self: LanguageModelling, *arguments: object, **others: object) -> torch.Tensor:
        with pytest.raises(TrainingError, match="being trained right now"):
            train(recipe, resume=True, runs=tmp_path, silent=True)
        return loss(self, *arguments, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(LanguageModelling, "loss", intrude)
    assert train(recipe, ["train.steps=1"], runs=tmp_path, silent=True).step == 1


def test_a_tokenizer_that_was_deleted_comes_from_the_last_checkpoint(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(recipe, ["train.steps=4", "train.schedule=constant"], runs=tmp_path, name="bare", silent=True)
    shutil.rmtree(tmp_path / "bare" / "tokenizer")
    monkeypatch.delattr("glassformer.training.recipe.train_vocabulary")  # learnt anew, it could be another
    words = ["train.steps=6", "train.schedule=constant"]
    assert train(recipe, words, resume=True, runs=tmp_path, name="bare", silent=True).step == 6
    assert (tmp_path / "bare" / "tokenizer").is_dir()
