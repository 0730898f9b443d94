"""Whatever ends a run, it goes on as if nothing had happened, or says why it cannot."""

import errno
import json
import os
import random
import shlex
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from campaigns import campaign, rounds
from forking import CONTEXT
from glassformer import bundle
from glassformer.cli import main
from glassformer.errors import TrainingError
from glassformer.loaded.opening import load
from glassformer.runlog import SCALARS, Curve, RunWriter, find_probes, read_run
from glassformer.tasks.language_modelling import LanguageModelling
from glassformer.training import checkpoints
from glassformer.training.loop import find_onset
from glassformer.training.recipe import train
from training.runs import assert_same, losses


@pytest.mark.parametrize(
    ("kind", "average"),
    [
        ("recipe", []),
        ("recipe", ["train.ema=0.9", "train.accumulate=2"]),
        ("translation", ["task.word_dropout=0.1"]),
    ],
)
@pytest.mark.long
@pytest.mark.first
def test_killed_at_any_moment_it_resumes_to_the_same_losses(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, average: list[str]
) -> None:
    recipe: Path = request.getfixturevalue(kind)
    kills = rounds(3, 50)
    probed = sorted({0, 1, *range(4, 10 * kills, 5)})
    overrides = [f"train.steps={10 * kills}", f"probe.steps={probed}", *average]
    # In a process of its own, too: a thread that another test left could draw from the same random numbers.
    started = {"runs": tmp_path, "name": "whole", "silent": True}
    whole = CONTEXT.Process(target=train, args=(recipe, overrides), kwargs=started)
    whole.start()
    whole.join()
    assert whole.exitcode == 0
    moments = random.Random(len(average))
    killed = 0
    for attempt in range(kills + 26):
        resume = bool(checkpoints.Checkpoints(tmp_path / "killed").states())
        if not resume:  # it was killed before its first checkpoint
            shutil.rmtree(tmp_path / "killed", ignore_errors=True)
        arguments = {"resume": resume, "runs": tmp_path, "name": "killed", "silent": True}
        scalars = tmp_path / "killed" / SCALARS
        wanted = count_lines(scalars) + moments.randint(3, 12) if attempt < kills else None
        process = CONTEXT.Process(target=train_until, args=(wanted, recipe, overrides), kwargs=arguments)
        process.start()
        if wanted is not None:
            while process.is_alive() and count_lines(scalars) < wanted:
                time.sleep(0.002)
            time.sleep(moments.random() * 0.03)  # anywhere: in a step, in a checkpoint, between two writes
            os.kill(process.pid or 0, signal.SIGKILL)
        process.join()
        killed += process.exitcode == -signal.SIGKILL
        if process.exitcode == 0:
            break
    assert killed >= (kills + 3) // 4
    assert process.exitcode == 0
    assert_same(tmp_path / "killed", tmp_path / "whole")
    assert_same_probes(tmp_path / "killed", tmp_path / "whole")


def assert_same_probes(run: Path, reference: Path) -> None:
    """No probe is missing, torn or there twice."""
    ours, theirs = find_probes(run), find_probes(reference)
    assert [(probe.text, probe.step) for probe in ours] == [(probe.text, probe.step) for probe in theirs]
    assert theirs
    for probe, other in zip(ours, theirs, strict=True):
        hashes = [bundle.open(each.path).evidence.model_hash for each in (probe, other)]
        assert hashes[0] == hashes[1]
    assert not list((run / "probes").glob(".*"))


def count_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.is_file() else 0


def train_until(lines: int | None, recipe: Path, overrides: list[str], **arguments: Any) -> None:
    """Train; a few lines of the log later than these, wait to be killed: who kills may be slow."""
    append = RunWriter._append

    def append_or_wait(self: RunWriter, name: str, rows: Any) -> None:
        if lines is not None and name == SCALARS and count_lines(self.folder / SCALARS) >= lines + 5:
            threading.Event().wait()
        append(self, name, rows)

    RunWriter._append = append_or_wait  # type: ignore[method-assign]
    train(recipe, overrides, **arguments)


@pytest.mark.parametrize("step", [3, 4, 7])
@pytest.mark.slow
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


@pytest.mark.slow
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
    kept = sorted(path.name for path in (tmp_path / "full" / "checkpoints").iterdir())
    assert kept == ["step-00000003", "step-00000004"]
    train(recipe, resume=True, runs=tmp_path, name="full", silent=True)
    assert_same(tmp_path / "full", tmp_path / "whole")


class KilledError(BaseException):
    """Nothing handles it: what is on the disk is what a kill at this moment leaves."""


@campaign("call", range(2, 60), sample=1)
@pytest.mark.parametrize("error", [KilledError(), OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))])
def test_a_kill_or_a_full_disk_while_a_state_is_written_changes_no_loss(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int, error: BaseException
) -> None:
    """It ends before one of the operations that make, rename, link and remove checkpoints."""
    train(recipe, runs=tmp_path, name="whole", silent=True)
    calls = 0

    def fail_at(name: str) -> None:
        operation = getattr(os, name)

        def count(*arguments: object, **others: object) -> object:
            nonlocal calls
            if sys._getframe(1).f_code.co_filename == checkpoints.__file__:
                calls += 1
                if calls == call:
                    raise error
            return operation(*arguments, **others)

        patched.setattr(checkpoints.os, name, count)

    with monkeypatch.context() as patched:
        for name in ("replace", "fsync", "open"):
            fail_at(name)
        with pytest.raises((KilledError, TrainingError)):
            train(recipe, runs=tmp_path, name="broken", silent=True)
    if checkpoints.Checkpoints(tmp_path / "broken").states():
        train(resume=True, runs=tmp_path, name="broken", silent=True)
        assert_same(tmp_path / "broken", tmp_path / "whole")
    else:
        with pytest.raises(TrainingError, match="no checkpoint to continue from"):
            train(resume=True, runs=tmp_path, name="broken", silent=True)


@pytest.mark.slow
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
        with pytest.raises(TrainingError, match=r"At step 6 the loss was nan.*checkpoint of step 4") as error:
            train(recipe, ["train.log_every=5"], runs=tmp_path, name="spoilt", silent=True)
    log = read_run(tmp_path / "spoilt")
    assert log.state == "failed"
    assert log.last_step == 6
    command = str(error.value).partition("half the rate: ")[2]
    assert command.startswith("glassformer train --fork spoilt-2 --from spoilt --step 4")
    assert main(shlex.split(command)[1:]) == 0  # as it was printed
    fork = read_run(tmp_path / "spoilt-2")
    assert (fork.state, fork.scalars["loss"].steps.tolist()) == ("finished", list(range(5, 13)))
    assert fork.scalars["rate"].values.max() < 0.5 * 5e-3 + 1e-9
    train(recipe, resume=True, runs=tmp_path, name="spoilt", silent=True)
    assert_same(tmp_path / "spoilt", tmp_path / "whole")


def test_the_onset_of_a_divergence_is_where_the_loss_leaves_its_level() -> None:
    falling = np.linspace(8, 4, 50)
    rising = np.geomspace(5, 90, 20)
    steps = np.arange(1, 71)
    assert find_onset(Curve(steps, np.concatenate((falling, rising))), 71) == 51
    assert find_onset(Curve(steps[:50], falling), 51) == 51  # without warning
    assert find_onset(Curve(steps[:0], falling[:0]), 1) == 1


def test_the_same_amount_of_other_data_is_refused(recipe: Path, tmp_path: Path) -> None:
    train(recipe, ["train.steps=3"], runs=tmp_path, silent=True)
    text = tmp_path / "train.txt"
    content = text.read_text()
    text.write_text(content.replace("cat", "dog", 1))
    with pytest.raises(TrainingError) as error:
        train(recipe, resume=True, runs=tmp_path, silent=True)
    assert error.value.message.code == "training.other_data"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "train.txt").write_text(content)
    (elsewhere / "dev.txt").write_text((tmp_path / "dev.txt").read_text())
    moved = [f"task.folder={elsewhere}"]  # the same content
    assert train(recipe, moved, resume=True, runs=tmp_path, silent=True).step == 3


@pytest.mark.slow
def test_resume_needs_no_changes_again(recipe: Path, tmp_path: Path) -> None:
    changes = ["train.rate=1e-3", "train.schedule=constant", "model.heads=4"]
    train(recipe, changes, runs=tmp_path, name="whole", silent=True)
    train(recipe, [*changes, "train.steps=6"], runs=tmp_path, name="halved", silent=True)
    # without the recipe, too; what no loss depends on may change, and stays changed
    free = ["train.steps=12", "train.save_every=2", "train.average=2", "monitor.dead=0.5"]
    train(None, free, resume=True, runs=tmp_path, name="halved", silent=True)
    assert losses(read_run(tmp_path / "halved")) == losses(read_run(tmp_path / "whole"))
    saved = json.loads((tmp_path / "halved" / "settings.json").read_text())
    assert (saved["train.save_every"], saved["train.rate"]) == (2, 1e-3)


def test_what_changed_in_the_recipe_itself_counts(recipe: Path, tmp_path: Path) -> None:
    train(recipe, ["train.steps=3"], runs=tmp_path, silent=True)
    text = recipe.read_text()
    recipe.write_text(text.replace("rate = 5e-3", "rate = 5e-4"))
    with pytest.raises(TrainingError, match=r"train.rate was 0.005 and is 0.0005"):
        train(recipe, resume=True, runs=tmp_path, silent=True)
    recipe.write_text(text.replace("log_every = 1\n", ""))
    assert train(recipe, resume=True, runs=tmp_path, silent=True).step == 3
    assert json.loads((tmp_path / "tiny" / "settings.json").read_text())["train.log_every"] == 10


@pytest.mark.slow
def test_a_default_that_is_written_out_is_no_change(translation: Path, tmp_path: Path) -> None:
    train(translation, ["train.steps=3"], runs=tmp_path, silent=True)
    written_out = {
        "task.label_smoothing": 0.1,
        "task.max_length": 128,
        "tokenizer.kind": "bpe",
        "model.activation": "relu",
        "model.kind": "transformer",
    }
    train(translation, written_out, resume=True, runs=tmp_path, silent=True)
    train(translation, {"task.scored": 2}, resume=True, runs=tmp_path, silent=True)  # of evaluations alone
    with pytest.raises(TrainingError, match=r"task.label_smoothing was 0.1 and is 0.2"):
        train(translation, {"task.label_smoothing": 0.2}, resume=True, runs=tmp_path, silent=True)


@pytest.mark.slow
def test_other_held_out_text_is_not_compared_with_the_former(recipe: Path, tmp_path: Path) -> None:
    constant = ["train.schedule=constant", "train.steps=8"]
    train(recipe, constant, runs=tmp_path, silent=True)
    shutil.copy(tmp_path / "dev.txt", tmp_path / "other.txt")
    state = tmp_path / "tiny" / "last" / "training.json"
    numbers = json.loads(state.read_text())
    numbers["alarms"]["steps"].update(dev=0.01, level_then=99.0, worse=1)  # any loss is worse than this
    state.write_text(json.dumps(numbers))
    (state.parent / "checksums.json").unlink()
    for split, found in (("dev", True), ("other", False)):
        shutil.copytree(tmp_path / "tiny", tmp_path / split, symlinks=True)
        changes = [f"train.evaluate_on={split}", "train.steps=12"]
        train(None, changes, resume=True, runs=tmp_path, name=split, silent=True)
        causes = {alarm.cause for alarm in read_run(tmp_path / split).alarms}
        assert ("over_fitting" in causes) == found


@pytest.mark.slow
def test_another_judge_looks_for_the_best_anew(recipe: Path, tmp_path: Path) -> None:
    constant = ["train.schedule=constant", "train.steps=8"]
    train(recipe, constant, runs=tmp_path, silent=True)
    changes = ["train.best_by=perplexity", "train.steps=12"]
    outcome = train(recipe, changes, resume=True, runs=tmp_path, silent=True)
    best = read_run(tmp_path / "tiny").scalars["dev_perplexity"]
    assert outcome.score == best.values[-1]  # the only one that was judged by this score


def test_a_mistyped_name_or_a_missing_state_starts_nothing(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dying_in_step(monkeypatch, 2), pytest.raises(MemoryError):
        train(recipe, runs=tmp_path / "runs", name="short", silent=True)
    before = sorted(path.name for path in (tmp_path / "runs").iterdir())
    with pytest.raises(TrainingError, match=r"no run called 'shrot'.*'short'"):
        train(recipe, resume=True, runs=tmp_path / "runs", name="shrot", silent=True)
    with pytest.raises(TrainingError, match="no checkpoint to continue from"):
        train(recipe, resume=True, runs=tmp_path / "runs", name="short", silent=True)
    with pytest.raises(TrainingError, match=r"no run called 'shrot' .*to fork.*'short'") as error:
        train(fork="shrot", runs=tmp_path / "runs", name="new", silent=True)
    assert "--resume" not in str(error.value)
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == before


def test_broken_settings_are_said_in_a_sentence(recipe: Path, tmp_path: Path) -> None:
    train(recipe, ["train.steps=3"], runs=tmp_path, silent=True)
    (tmp_path / "tiny" / "settings.json").write_text('{"train.steps": 3,')
    with pytest.raises(TrainingError) as error:
        train(recipe, resume=True, runs=tmp_path, silent=True)
    assert error.value.message.code == "training.recipe.settings_damaged"
    assert "settings.json" in str(error.value)


@pytest.mark.slow
def test_a_fork_continues_with_a_lower_rate(recipe: Path, tmp_path: Path) -> None:
    train(recipe, runs=tmp_path, name="whole", silent=True)
    train(fork="whole", step=9, runs=tmp_path, name="same", silent=True)
    whole, same = read_run(tmp_path / "whole"), read_run(tmp_path / "same")
    assert losses(same) == losses(whole)[9:]  # with the same settings the same losses
    changes = {"train.rate": 1e-4, "train.ema": 0.5, "batches.tokens": 96}
    train(None, changes, fork=tmp_path / "whole", step=9, runs=tmp_path, name="slow", silent=True)
    slow = read_run(tmp_path / "slow")
    assert slow.scalars["loss"].steps.tolist() == [10, 11, 12]
    assert slow.scalars["rate"].values.max() < 1e-4
    assert losses(read_run(tmp_path / "whole")) == losses(whole)
    assert (tmp_path / "same" / "best").is_dir()
    with pytest.raises(TrainingError, match=r"no checkpoint of step 2.*9 and 12"):
        train(fork="whole", step=2, runs=tmp_path, name="other", silent=True)
    with pytest.raises(TrainingError, match=r"model.heads was 2 and is 4"):
        train(None, {"model.heads": 4}, fork="whole", runs=tmp_path, name="other", silent=True)
    assert not (tmp_path / "other").exists()


LOCAL = {"heads": 4, "key_heads": 2, "window": 5, "score_scale": 0.4, "query_key_norm": True}
LOCAL |= {"positions": "alibi"}


@pytest.mark.slow
def test_a_network_with_shared_keys_and_a_window_learns_and_resumes(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [f"model.{name}={json.dumps(value)}" for name, value in LOCAL.items()]
    train(recipe, words, runs=tmp_path, name="whole", silent=True)
    with dying_in_step(monkeypatch, 8), pytest.raises(MemoryError):
        train(recipe, words, runs=tmp_path, name="halved", silent=True)
    train(recipe, resume=True, runs=tmp_path, name="halved", silent=True)
    assert_same(tmp_path / "halved", tmp_path / "whole")
    steps = losses(read_run(tmp_path / "whole"))
    assert steps[-1][1] < 0.9 * steps[0][1]
    network = load(tmp_path / "whole" / "last").network
    assert {name: getattr(network.config, name) for name in LOCAL} == LOCAL
