"""Checkpoints: averaged, damaged, and on a disk that is full."""

import resource
from pathlib import Path

import pytest
import torch

from forking import CONTEXT
from glassformer.errors import CheckpointError, TrainingError
from glassformer.runlog import read_run
from glassformer.training.checkpoints import Checkpoints, load_state
from glassformer.training.recipe import train
from glassformer.weights.checkpoint import open_checkpoint
from training.runs import assert_same, losses, run


def _run_with_little_room(recipe: Path, runs: Path) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))  # as a full disk: no file grows beyond it
    train(recipe, runs=runs, name="full", silent=True)


@pytest.mark.slow
def test_checkpoints_are_averaged_at_the_end(recipe: Path) -> None:
    folder = run(recipe, "train.average=3", "train.evaluate_every=12")
    places = sorted((folder / "checkpoints").iterdir())[-3:]
    assert [place.name for place in places] == ["step-00000006", "step-00000009", "step-00000012"]
    states = [open_checkpoint(place).network.state_dict() for place in places]
    mean = open_checkpoint(folder / "averaged").network.state_dict()
    for name, tensor in mean.items():
        torch.testing.assert_close(tensor, torch.stack([state[name] for state in states]).mean(0))
    assert len(read_run(folder).scalars["averaged_loss"]) == 1


@pytest.mark.slow
def test_a_full_disk_leaves_the_last_checkpoint_intact(recipe: Path, tmp_path: Path) -> None:
    process = CONTEXT.Process(target=_run_with_little_room, args=(recipe, tmp_path))
    process.start()
    process.join()
    log = read_run(tmp_path / "full")
    assert log.state == "failed"
    assert "could not be written" in log.events[-1].message
    assert "There was none before" in log.events[-1].message
    assert not list((tmp_path / "full" / "checkpoints").glob("*"))
    with pytest.raises(TrainingError, match=r"no checkpoint to continue from.*runs rm full"):
        train(recipe, resume=True, runs=tmp_path, name="full", silent=True)


def damage(file: Path) -> None:
    """Change one bit in the middle of a file."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.slow
def test_a_damaged_state_is_recognised_and_the_one_before_used(recipe: Path, tmp_path: Path) -> None:
    train(recipe, runs=tmp_path, name="whole", silent=True)
    constant = losses(read_run(tmp_path / "whole"))
    for name, file in (("tensors", "training.safetensors"), ("numbers", "training.json")):
        train(recipe, runs=tmp_path, name=name, silent=True)
        run = tmp_path / name
        assert [path.name for path in Checkpoints(run).states()] == ["step-00000009", "step-00000012"]
        damage(run / "last" / file)
        train(resume=True, runs=tmp_path, name=name, silent=True)
        log = read_run(run)
        assert losses(log) == constant
        (note,) = [event for event in log.events if event.kind == "note"]
        assert note.code == "training.checkpoint.skipped"
        assert f"{file} has changed" in note.message
        assert "continues from step-00000009" in note.message
        assert_same(run, tmp_path / "whole")


def test_where_all_states_are_damaged_the_newest_is_named(recipe: Path, tmp_path: Path) -> None:
    train(recipe, ["train.steps=3"], runs=tmp_path, silent=True)
    (tmp_path / "tiny" / "last" / "training.safetensors").write_bytes(b"half")
    with pytest.raises(CheckpointError, match="step-00000003 is damaged"):
        train(recipe, resume=True, runs=tmp_path, silent=True)


def test_two_states_and_the_best_one_are_kept(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    for step in range(1, 6):
        place = checkpoints.save(step, lambda folder: folder.mkdir(), {"a": torch.ones(1)}, {"step": step})
        if step == 2:
            checkpoints.mark_best(place)
    assert checkpoints.steps() == [2, 4, 5]
    assert checkpoints.all() == checkpoints.states()
    assert load_state(checkpoints.place(4)).numbers == {"step": 4}
    checkpoints.remove_states()
    assert checkpoints.steps() == []
    assert checkpoints.all() == [checkpoints.place(2), checkpoints.place(5)]  # the best and the last model
    with pytest.raises(TrainingError) as error:
        checkpoints.newest_state()
    assert error.value.message.code == "training.checkpoint.only_models"
