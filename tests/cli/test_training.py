"""`train` and `runs`: a tiny recipe from the first step to its curves."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import glassformer
from glassformer import cli
from glassformer.train.loop import Outcome

RECIPE = """
[task]
name = "language_modelling"
path = "{{split}}.txt"
folder = "{folder}"
context = 16

[tokenizer]
kind = "characters"

[model]
layers = 1
width = 16
heads = 2
feed_forward = 32
max_length = 32

[batches]
tokens = 128

[train]
steps = 6
device = "cpu"
save_every = 3
evaluate_every = 6
log_every = 1

[monitor]
every = 3
"""

Command = Callable[..., str]


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)  # runs/ is made where one stands
    words = random.Random(7)
    for split, lines in (("train", 40), ("dev", 8)):
        text = "\n".join(" ".join(words.choices(["the", "cat", "sat"], k=8)) for _ in range(lines))
        (tmp_path / f"{split}.txt").write_text(text)
    path = tmp_path / "tiny.toml"
    path.write_text(RECIPE.format(folder=tmp_path))
    return path


def test_a_recipe_becomes_a_model_that_writes(recipe: Path, run: Command, complain: Command) -> None:
    printed = run("train", recipe, "--set", "train.steps=4")
    assert printed.startswith("Finished at step 4, best ")
    folder = printed.splitlines()[-1].removeprefix("Last model:").strip()
    assert run("generate", folder, "the", "--max-new-tokens", 3).startswith("the")
    assert "--resume" in complain("train", recipe, "--set", "train.steps=4")
    assert run("train", recipe, "--set", "train.steps=4", "--resume").startswith("Finished at step 4")


def test_runs_are_listed_and_drawn(recipe: Path, run: Command, complain: Command) -> None:
    assert "no runs here yet" in run("runs")
    run("train", recipe, "--name", "first")
    assert run("runs").splitlines()[1].split()[:3] == ["first", "finished", "6"]
    drawn = run("runs", "first")
    assert "first: finished, step 6" in drawn
    assert "decoder self layer 0" in drawn
    [told] = json.loads(run("runs", "--json"))
    assert (told["run"], told["step"]) == ("first", 6)
    assert json.loads(run("runs", "first", "--json")) == told
    assert run("runs", Path("runs") / "first") == drawn
    assert "Did you mean 'first'?" in complain("runs", "frist")


def test_whoever_stops_a_training_is_told_how_far_it_came(
    recipe: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped = Outcome(3, None, "loss", None, Path("runs/tiny/3"), "stopped: asked to")
    monkeypatch.setattr("glassformer.train.recipe.run_recipe", lambda *_, **__: stopped)
    assert cli.main(["train", str(recipe)]) == 130
    assert "at step 3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--set", "train.stepps=3"), "Did you mean 'steps'?"),
        (("--set", "steps"), "table.key=value"),
        (("--set", "task.path=none.txt"), "none.txt"),
    ],
)
def test_a_recipe_that_cannot_be(words: tuple[str, ...], said: str, recipe: Path, complain: Command) -> None:
    assert said in complain("train", recipe, *words)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("train.stepps=3", "'stepps'"),
        ("model.widht=3", "'widht'"),
        ("task.pathh=3", "'pathh'"),
        ("tokenizer.sise=3", "'sise'"),
    ],
)
def test_a_slip_is_told_before_a_run_that_is_there(
    change: str, said: str, recipe: Path, complain: Command
) -> None:
    folder = Path("runs") / "tiny"
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text("")
    assert said in complain("train", recipe, "--set", change)
    assert "holds a run already" in complain("train", recipe)


def test_a_recipe_that_is_not_there(tmp_path: Path, complain: Command) -> None:
    assert "Cannot read" in complain("train", tmp_path / "none.toml")


def test_the_verb_and_its_room_have_one_name(recipe: Path) -> None:
    outcome = glassformer.train(recipe, ["train.steps=2"], silent=True)
    assert outcome.step == 2
    assert callable(glassformer.train)  # also now that the room has been entered
