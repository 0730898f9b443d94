"""Commands of advice: a name that is free, words that a shell reads as they are; they work as printed."""

import re
import shlex
from pathlib import Path

import pytest

from glassformer.cli import main
from glassformer.errors import TrainingError
from glassformer.runlog import read_run
from glassformer.training.checkpoints import Checkpoints
from glassformer.training.commands import fork_command, remove_command, resume_command
from glassformer.training.recipe import train


def test_commands_of_a_run_in_the_usual_folder() -> None:
    assert resume_command(Path("runs/first")) == "glassformer train --resume --name first"
    assert remove_command(Path("runs/first")) == "glassformer runs rm first"
    command = fork_command(Path("runs/first"), ["train.rate=5e-05"], step=40)
    assert command == "glassformer train --fork first-2 --from first --step 40 --set train.rate=5e-05"


def test_a_name_that_is_free_and_a_folder_with_a_blank(tmp_path: Path) -> None:
    run = tmp_path / "my runs" / "first"
    run.with_name("first-2").mkdir(parents=True)
    words = shlex.split(fork_command(run))
    assert words[3] == "first-3"
    assert words[words.index("--folder") + 1] == str(run.parent)
    assert "--step" not in words


def paste(text: str) -> int:
    """Run the command at the end of an error, as it was printed."""
    (command,) = re.findall(r": glassformer (.*)$", text)
    return main(shlex.split(command))


@pytest.mark.parametrize(
    "changes",
    [
        {"train.rate": 5e-4},
        {"train.schedule": "constant", "train.decay": 0.01},
        {"batches.tokens": 64, "batches.shuffle": False},
        ["train.clip=0.5", "train.save_every=2"],
        {"train.minutes": 5.0},
    ],
)
def test_what_a_resumed_run_refuses_a_fork_accepts_as_printed(
    recipe: Path, tmp_path: Path, changes: dict[str, object] | list[str]
) -> None:
    runs = tmp_path / "my runs"
    train(recipe, ["train.steps=3"], runs=runs, silent=True)
    with pytest.raises(TrainingError, match="fork the run") as error:
        train(None, changes, resume=True, name="tiny", runs=runs, silent=True)
    assert paste(str(error.value)) == 0
    assert read_run(runs / "tiny-2").state == "finished"


def test_a_changed_recipe_is_part_of_the_printed_fork(recipe: Path, tmp_path: Path) -> None:
    train(recipe, ["train.steps=3"], runs=tmp_path, silent=True)
    recipe.write_text(recipe.read_text().replace("rate = 5e-3", "rate = 5e-4"))
    with pytest.raises(TrainingError, match=r"train.rate was 0.005 and is 0.0005") as error:
        train(recipe, resume=True, runs=tmp_path, silent=True)
    assert paste(str(error.value)) == 0
    assert read_run(tmp_path / "tiny-2").settings["train.rate"] == 5e-4


@pytest.mark.parametrize("change", ["model.heads=4", "task.context=8", "tokenizer.lowercase=true"])
@pytest.mark.slow
def test_no_fork_is_advised_for_another_model_or_task(recipe: Path, tmp_path: Path, change: str) -> None:
    train(recipe, ["train.steps=3"], runs=tmp_path, silent=True)
    with pytest.raises(TrainingError) as resumed:
        train(None, [change], resume=True, name="tiny", runs=tmp_path, silent=True)
    with pytest.raises(TrainingError) as forked:
        train(None, [change], fork="tiny", name="other", runs=tmp_path, silent=True)
    for error in (resumed, forked):
        text = str(error.value)
        assert "--fork" not in text
        (start,) = re.findall('start = "(.*?)"', text)
        assert Path(start) == tmp_path / "tiny" / "last"
    alone = recipe.with_name("alone.toml")
    alone.write_text(recipe.read_text().replace('[tokenizer]\nkind = "characters"\n', ""))
    assert train(alone, [f"model.start={start}", "train.steps=1"], runs=tmp_path, silent=True).step == 1


@pytest.mark.slow
def test_a_checkpoint_that_cannot_be_written_advises_what_works(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("glassformer.training.checkpoints.save_file", refuse)
        with pytest.raises(TrainingError, match="There was none before") as error:
            train(recipe, runs=tmp_path, silent=True)
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    assert (tmp_path / "tiny").is_dir()
    assert paste(f"{error.value} --yes") == 0
    assert not (tmp_path / "tiny").exists()
    train(recipe, ["train.steps=3"], runs=tmp_path, silent=True)
    with monkeypatch.context() as patched:
        patched.setattr("glassformer.training.checkpoints.save_file", refuse)
        with pytest.raises(TrainingError, match="is intact") as error:
            Checkpoints(tmp_path / "tiny").save(4, lambda folder: folder.mkdir(), {}, {})
    assert paste(str(error.value)) == 0


def refuse(*_: object) -> None:
    raise OSError(28, "No space left on device")
