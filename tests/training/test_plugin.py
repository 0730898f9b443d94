"""A task is one file: dropped into the folder of tasks, recipes train it, the page offers it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import glassformer.tasks
from glassformer import load, train
from glassformer.api.jobs import JobRequest
from glassformer.errors import ConfigurationError
from glassformer.tasks.task import TASKS
from glassformer.workbench.cards import describe_model
from glassformer.workbench.models import Model
from glassformer.workbench.requests import check_request
from glassformer.workbench.settings import WorkbenchSettings

TOY = '''
"""Reading backwards: language modelling of reversed lines."""
from glassformer.tasks.language_modelling import LanguageModelling
from glassformer.tasks.task import TASKS

@TASKS.register("toy_backwards")
class Backwards(LanguageModelling):
    """Learn to go on with a text."""
'''


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The toy in a folder that belongs to the package for the length of a test."""
    assert "toy_backwards" not in TASKS
    folder = tmp_path / "plugins"
    folder.mkdir()
    (folder / "toy_of_a_test.py").write_text(TOY, encoding="utf-8")
    monkeypatch.setattr(glassformer.tasks, "__path__", [*glassformer.tasks.__path__, str(folder)])
    monkeypatch.setattr(TASKS, "_things", dict(TASKS._things))
    monkeypatch.setattr(TASKS, "_complete", False)
    yield "toy_backwards"
    sys.modules.pop("glassformer.tasks.toy_of_a_test", None)


def test_a_recipe_trains_it(toy: str, recipe: Path, tmp_path: Path) -> None:
    outcome = train(recipe, {"task.name": toy, "train.steps": 4}, runs=tmp_path, name="toy", silent=True)
    assert outcome.ending == "finished"
    assert outcome.last is not None
    model = describe_model(outcome.last, "toy", "folder")  # as the page lists it in its form
    assert model is not None
    assert [title.text("en") for title in model.tasks.values()] == ["Toy backwards"]
    request = JobRequest(kind="record", model="toy", text="a", task=toy)
    check_request(request, Model("toy", outcome.last, model), WorkbenchSettings())
    assert load(outcome.last).can("generates")


def test_its_name_is_offered(toy: str, recipe: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=f"Did you mean '{toy}'"):
        train(recipe, {"task.name": "toy_backward"}, runs=tmp_path, silent=True)
