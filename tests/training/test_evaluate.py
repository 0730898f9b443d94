"""Scores of a checkpoint on any split, of a run or by a recipe."""

import shutil
from pathlib import Path

import pytest

from glassformer.errors import InputError
from glassformer.runlog import read_run
from glassformer.training.evaluate import evaluate
from training.runs import run


def test_a_checkpoint_is_evaluated_as_training_does(recipe: Path, tmp_path: Path) -> None:
    folder = run(recipe, "train.steps=4")
    expected = read_run(folder).scalars["dev_loss"].values[-1]
    assert evaluate(folder / "last", "dev", device="cpu")["loss"] == expected
    assert evaluate(folder, "dev", device="cpu")["loss"] == expected  # its best one
    elsewhere = shutil.copytree(folder / "last", tmp_path / "elsewhere")
    with pytest.raises(InputError, match="--recipe"):
        evaluate(elsewhere, "dev", device="cpu")
    assert evaluate(elsewhere, "dev", recipe=recipe, device="cpu")["loss"] == expected
    shutil.copy(tmp_path / "dev.txt", tmp_path / "test.txt")
    assert evaluate(folder / "last", device="cpu")["loss"] == expected
    assert evaluate(folder / "last", "train", device="cpu")["loss"] != expected
