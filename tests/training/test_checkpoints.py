"""Checkpoints: averaged, damaged, and on a disk that is full."""

import multiprocessing
import resource
from pathlib import Path

import pytest
import torch

from glassformer.errors import CheckpointError
from glassformer.runlog import read_run
from glassformer.training.recipe import train
from glassformer.weights.checkpoint import open_checkpoint
from training.runs import assert_same, run

CONTEXT = multiprocessing.get_context("forkserver")


def _run_with_little_room(recipe: Path, runs: Path) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))  # as a full disk: no file grows beyond it
    train(recipe, runs=runs, name="full", silent=True)


def test_checkpoints_are_averaged_at_the_end(recipe: Path) -> None:
    folder = run(recipe, "train.average=3", "train.evaluate_every=12")
    places = sorted((folder / "checkpoints").iterdir())[-3:]
    assert [place.name for place in places] == ["step-00000006", "step-00000009", "step-00000012"]
    states = [open_checkpoint(place).network.state_dict() for place in places]
    mean = open_checkpoint(folder / "averaged").network.state_dict()
    for name, tensor in mean.items():
        torch.testing.assert_close(tensor, torch.stack([state[name] for state in states]).mean(0))
    assert len(read_run(folder).scalars["averaged_loss"]) == 1


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


def test_a_damaged_checkpoint_is_named(recipe: Path, tmp_path: Path) -> None:
    train(recipe, ["train.steps=3"], runs=tmp_path, silent=True)
    (tmp_path / "tiny" / "last" / "training.safetensors").write_bytes(b"half")
    with pytest.raises(CheckpointError, match="step-00000003 is damaged"):
        train(recipe, ["train.steps=3"], resume=True, runs=tmp_path, silent=True)
