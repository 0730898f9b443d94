"""Files of a user that a recipe names: the example of the documents, changes, mistakes."""

import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from glassformer.errors import ConfigurationError, TrainingError
from glassformer.runlog import read_run
from glassformer.training import plugins
from glassformer.training.evaluate import evaluate
from glassformer.training.plugins import REGISTRIES
from glassformer.training.recipe import read_recipe, train
from training.runs import losses, weights

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "how-to" / "plugins.md"


@pytest.fixture(autouse=True)
def _own_registries(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for registry in REGISTRIES:
        list(registry)  # the files of its package are imported
        monkeypatch.setattr(registry, "_things", dict(registry._things))
    monkeypatch.setattr(plugins, "_loaded", {})
    yield
    for name in [name for name in sys.modules if name.startswith("glassformer_plugin_")]:
        del sys.modules[name]


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The example of the documents, with data beside it."""
    text = DOCUMENT.read_text(encoding="utf-8")
    (recipe,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (program,) = re.findall(r'```python title="mine.py"\n(.*?)```', text, re.DOTALL)
    (tmp_path / "mine.py").write_text(program)
    words = random.Random(5)
    for split, lines in (("train", 40), ("dev", 9)):
        rows = ["".join(words.choices("abc", k=words.randint(3, 9))) for _ in range(lines)]
        (tmp_path / f"{split}.tsv").write_text("".join(f"{row[-1]}\t{row}\n" for row in rows))
    path = tmp_path / "own.toml"
    path.write_text(recipe.replace("FOLDER", str(tmp_path)))
    return path


def go(example: Path, name: str = "run", **changes: object) -> Path:
    runs = example.parent / "runs"
    named = {key.replace("__", "."): each for key, each in changes.items()}
    train(example, named, runs=runs, name=name, silent=True)
    return runs / name


def test_the_example_of_the_documents_trains(example: Path) -> None:
    folder = go(example)
    log = read_run(folder)
    rates = log.scalars["rate"].values.tolist()
    assert rates == [0.01 * 0.5 ** int(3 * step / 6) for step in range(1, 7)]
    scores = log.scalars["dev_error_rate"].values
    accuracy = log.scalars["dev_accuracy"].values
    assert scores.tolist() == pytest.approx((1 - accuracy).tolist())
    best = next(event for event in reversed(log.events) if event.kind == "best")
    assert (best.topic, best.value) == ("error_rate", scores.min())  # lower is better
    lines = (folder / "diary.txt").read_text().splitlines()
    assert lines == [f"{step} dev {score}" for step, score in zip((3, 6), scores.tolist(), strict=True)]
    assert any(name.startswith("momentum_buffer.") for name in weights(folder))


@pytest.mark.slow
def test_a_run_keeps_its_files_and_evaluates_with_them(example: Path) -> None:
    folder = go(example)
    program = example.with_name("mine.py")
    assert (folder / "plugins" / "mine.py").read_bytes() == program.read_bytes()
    settings = json.loads((folder / "settings.json").read_text())
    assert settings["plugins.files"] == [str(program)]
    assert list(settings["plugins.digests"]) == ["mine.py"]
    program.unlink()
    scores = evaluate(folder / "last", "dev", device="cpu")
    assert scores["error_rate"] == read_run(folder).scalars["dev_error_rate"].values[-1]
    command = [sys.executable, "-m", "glassformer", "evaluate", str(folder / "last"), "--split", "dev"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # has not trained it
    assert done.returncode == 0, done.stderr
    assert "error_rate" in done.stdout


@pytest.mark.slow
def test_a_resumed_run_has_the_same_losses(example: Path) -> None:
    """The memory of an optimiser that is not ours is kept, too."""
    whole = go(example, "whole", train__schedule="constant")
    parts = go(example, "parts", train__schedule="constant", train__steps=3)
    train(None, {"train.steps": 6}, resume=True, runs=parts.parent, name="parts", silent=True)
    assert losses(read_run(parts)) == losses(read_run(whole))


def test_a_changed_file_is_noticed(example: Path) -> None:
    folder = go(example, train__schedule="constant", train__steps=3)
    program = example.with_name("mine.py")
    program.write_text(program.read_text() + "\n# changed\n")
    with pytest.raises(TrainingError) as error:
        train(None, {"train.steps": 6}, resume=True, runs=folder.parent, name="run", silent=True)
    assert error.value.message.code == "training.plugins.changed"
    assert error.value.message.parameters["name"] == "mine.py"
    outcome = train(None, {"train.steps": 6}, fork="run", runs=folder.parent, name="new", silent=True)
    assert outcome.step == 6
    assert (folder.parent / "new" / "plugins" / "mine.py").read_text().endswith("# changed\n")


def test_a_file_that_changes_within_one_program_replaces_its_names(example: Path) -> None:
    read_recipe(example)
    program = example.with_name("mine.py")
    program.write_text(program.read_text().replace('"diary"', '"journal"'))
    recipe = read_recipe(example)
    assert "journal" in plugins.CALLBACKS
    assert "diary" not in plugins.CALLBACKS
    assert recipe.tables["task"]["name"] == "backwards"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('plugins = "mine.py"', "not_a_list"),
        ('plugins = ["none.py"]', "unreadable"),
        ('plugins = ["mine.py", "copy/mine.py"]', "same_name"),
        ('plugins = ["broken.py"]', "failed"),
    ],
)
def test_mistakes_are_explained(example: Path, line: str, code: str) -> None:
    example.with_name("broken.py").write_text("1 / 0")
    example.write_text(re.sub(r"^plugins = .*", line, example.read_text()))
    with pytest.raises(ConfigurationError) as error:
        read_recipe(example)
    assert error.value.message.code == f"training.plugins.{code}"


def test_a_task_without_answers_has_no_scores_of_plugins(example: Path, recipe: Path) -> None:
    recipe.write_text(f'plugins = ["mine.py"]\n{recipe.read_text()}')
    with pytest.raises(ConfigurationError) as error:
        train(recipe, {"train.scores": ["error_rate"]}, runs=recipe.parent, silent=True)
    assert error.value.message.parameters["problem"].code == "training.no_answers"
