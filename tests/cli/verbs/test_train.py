"""`train` and `runs`: a tiny recipe from the first step to its curves."""

import re
from pathlib import Path

import pytest

import glassformer
from cli.conftest import Command
from glassformer import cli
from glassformer.training.loop import Outcome


def test_a_recipe_becomes_a_model_that_writes(recipe: Path, run: Command, complain: Command) -> None:
    printed = run("train", recipe, "--set", "train.steps=4")
    assert [line.split(":")[0] for line in printed.splitlines()] == ["Best model", "Last model"]
    folder = printed.splitlines()[-1].removeprefix("Last model:").strip()
    assert run("generate", folder, "the", "--max-new-tokens", 3).startswith("the")
    assert "--resume" in complain("train", recipe, "--set", "train.steps=4")
    assert run("train", recipe, "--set", "train.steps=4", "--resume") == printed


def test_the_end_of_a_training_is_told_once(recipe: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["train", str(recipe), "--set", "train.steps=4"]) == 0
    out, err = capfd.readouterr()
    assert re.findall("Finished.*", err + out) == re.findall(
        r"Finished at step 4\. The best loss was .*", err
    )
    assert "Finished at step 4. The best loss was " in err


def test_whoever_stops_a_training_is_told_how_far_it_came(
    recipe: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped = Outcome(3, None, "loss", None, Path("runs/tiny/3"), "interrupted")
    monkeypatch.setattr("glassformer.training.recipe.train", lambda *_, **__: stopped)
    assert cli.main(["train", str(recipe)]) == 130
    assert capsys.readouterr().out == "Last model:  runs/tiny/3\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--set", "train.stepps=3"), "Did you mean 'steps'?"),
        (("--set", "steps"), "table.key=value"),
        (("--set", "task.path=none.txt"), "none.txt: No such file or directory. Check the path. The data of"),
        (("--set", "task.path=none.txt"), "docs/how-to/translator.md says where to get it."),
        (("--set", "task.path=."), "Is a directory. Check the path.\n"),
        (("--set", "task.files.0.path=a.tsv"), "Change [[task.files]] in the recipe."),
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
    assert "already contains a run" in complain("train", recipe)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("train.seed=99999999999999999999999", "at most 4294967295"),
        ("train.rate=inf", "(above 0, finite)"),
        ("train.decay=inf", "(at least 0, finite)"),
        ("train.epsilon=inf", "(above 0, finite)"),
        ("train.best_by=acuracy", "is not a score of this task"),
        ("train.evaluate_on=nowhere", "nowhere.txt"),
        ("train.precision=bfloat16", "is for GPUs"),
        ("train.device=mars", "'mars' is not a device"),
        ("model.width=33", "cannot be divided"),
        ("model.kind=[1]", "kind = [1] is not possible"),
        ("task.name=[1]", "no task called '[1]'"),
        ("task.name=3", "no task called '3'"),
        ("task.also=[3]", "each of which is a table"),
        ("tokenizer.size=9999999999999", "at most 2000000"),
        ("task.path=none.txt", "none.txt"),
    ],
)
def test_what_is_refused_before_its_first_step_leaves_its_name_free(
    change: str, said: str, recipe: Path, run: Command, complain: Command
) -> None:
    assert said in complain("train", recipe, "--set", change)
    assert not (Path("runs") / "tiny").exists()
    assert "no runs here yet" in run("runs")


@pytest.mark.parametrize(
    ("change", "said", "stays"),
    [
        ("train.accumulate=100000", "less accumulation", False),
        ("batches.tokens=3", "a batch holds at most 3", False),
        ("train.rate=1e300", "training cannot continue", True),
    ],
)
def test_a_run_that_has_begun_leaves_what_it_learnt(
    change: str, said: str, stays: bool, recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["train", str(recipe), "--set", change]) == 2
    assert said in capsys.readouterr().err.splitlines()[-1]
    assert (Path("runs") / "tiny").exists() == stays


@pytest.mark.parametrize("name", ["a/b", "../b", "/tmp/b", ".", ".."])
def test_a_run_is_called_by_one_word(name: str, recipe: Path, complain: Command) -> None:
    assert "without slashes" in complain("train", recipe, "--name", name)


def test_a_folder_of_somebody_else_is_not_written_over(recipe: Path, complain: Command) -> None:
    kept = Path("runs") / "tiny" / "tokenizer" / "mine.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")
    assert "needs its own folder" in complain("train", recipe)
    assert "There is no run called 'tiny'" in complain("train", recipe, "--resume")
    assert kept.read_text() == "mine"


def test_heads_are_watched_on_the_split_that_decides(recipe: Path, run: Command) -> None:
    (recipe.parent / "dev.txt").rename(recipe.parent / "test.txt")
    sets = ("train.evaluate_on=test", "train.steps=2", "monitor.every=1")
    assert "Last model" in run("train", recipe, *(word for change in sets for word in ("--set", change)))


def test_a_table_that_is_none_is_refused_however_it_is_changed(tmp_path: Path, complain: Command) -> None:
    path = tmp_path / "odd.toml"
    path.write_text("task = 3\n")
    assert "expected a table" in complain("train", path, "--set", "task.name=translation")


def test_a_recipe_that_is_not_there(tmp_path: Path, complain: Command) -> None:
    assert "Cannot read" in complain("train", tmp_path / "none.toml")


def test_train_is_a_function_of_the_package(recipe: Path) -> None:
    outcome = glassformer.train(recipe, {"train.steps": 2}, silent=True)
    assert (outcome.step, outcome.ending) == (2, "finished")


def test_a_fork_is_started_from_the_command_line(recipe: Path, run: Command, complain: Command) -> None:
    run("train", recipe, "--set", "train.steps=4", "--set", "train.save_every=2")
    printed = run("train", "--fork", "slow", "--from", "tiny", "--step", 2, "--set", "train.rate=1e-4")
    assert "runs/slow/checkpoints/step-00000004" in printed
    assert "--from RUN" in complain("train", recipe, "--fork", "other")
    assert "--fork NAME" in complain("train", recipe, "--step", 2)
    assert "Leave out --name" in complain("train", "--fork", "a", "--from", "tiny", "--name", "b")
    assert "Give a recipe" in complain("train")
