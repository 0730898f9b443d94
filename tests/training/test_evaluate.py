"""Scores of a checkpoint on any split, of a run or by a recipe."""

import shutil
from pathlib import Path

import pytest

from glassformer.errors import ConfigurationError, InputError
from glassformer.runlog import read_run
from glassformer.training.evaluate import evaluate
from training.runs import run


@pytest.mark.slow
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


def test_text_that_was_learnt_from_is_never_called_held_out(recipe: Path, tmp_path: Path) -> None:
    shutil.copy(tmp_path / "train.txt", tmp_path / "all.txt")
    shutil.copy(tmp_path / "dev.txt", tmp_path / "new.txt")
    one = 'path = "all.txt"\nheld_out_test = 0.1'
    recipe.write_text(recipe.read_text().replace('path = "{split}.txt"', one))
    folder = run(recipe, "train.steps=1")
    expected = evaluate(folder, "test", device="cpu")["loss"]
    for name, value in (("held_out_test", 0.5), ("held_out", 0.3), ("split_seed", 3)):
        with pytest.raises(ConfigurationError, match=rf"task.{name} was .* and is {value}"):
            evaluate(folder, "test", overrides={f"task.{name}": value}, device="cpu")
    recipe.write_text(recipe.read_text().replace("held_out_test = 0.1", "held_out_test = 0.2"))
    with pytest.raises(ConfigurationError, match=r"task.held_out_test was 0.1 and is 0.2"):
        evaluate(folder, "test", recipe=recipe, device="cpu")
    same = {"task.held_out_test": 0.1, "task.held_out": 0.1}  # as they are, the second by default
    assert evaluate(folder, "test", overrides=same, device="cpu")["loss"] == expected
    other = {"task.path": "new.txt", "task.held_out": 0.9, "task.held_out_test": 0.05}
    assert evaluate(folder, "dev", overrides=other, device="cpu")["loss"] != expected
