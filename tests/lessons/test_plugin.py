"""A topic is one folder: dropped beside the others, the playground has it."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from glassformer.errors import ApiError
from glassformer.lessons import topics
from glassformer.lessons.run import run_topic
from glassformer.lessons.schema import TopicResult
from glassformer.lessons.topics import find_topic, read_parameters, read_topics
from glassformer.workbench import LocalWorkbench

DOCS = Path(__file__).parents[2] / "docs"
TOPIC = """
order = 99
title = "Doubling"
question = "What is twice a number?"
change = "The number."
see = "Twice as much."
why = "It is a toy."

[[parameters]]
name = "number"
label = "Number"
kind = "integer"
default = 2
minimum = 0
maximum = 9
"""
CODE = '''
"""Doubling."""
from glassformer.lessons.figures import measure
from glassformer.lessons.run import Inputs, Result
from glassformer.lessons.schema import Numbers
from glassformer.messages import message

def compute(inputs: Inputs) -> Result:
    title = message("lessons.toy_doubling.twice", default="Twice {number} is {twice}.",
                    number=inputs.integer("number"), twice=2 * inputs.integer("number"))
    return Result(title, (Numbers(id="twice", title=title, items=(measure(title, 2.0),)),))
'''


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The toy in a folder that belongs to the package for the length of a test."""
    folder = tmp_path / "toy_doubling"
    folder.mkdir()
    (folder / "topic.toml").write_text(TOPIC, encoding="utf-8")
    (folder / "__init__.py").write_text(CODE, encoding="utf-8")
    with monkeypatch.context() as change:
        change.setattr(topics, "__path__", [*topics.__path__, str(tmp_path)])
        read_topics.cache_clear()
        yield "toy_doubling"
    read_topics.cache_clear()
    sys.modules.pop("glassformer.lessons.topics.toy_doubling", None)


def test_the_server_lists_it(toy: str) -> None:
    listed = {topic.name: topic for topic in LocalWorkbench.topics(None)}  # type: ignore[arg-type]
    assert list(listed)[-1] == toy
    assert str(listed[toy].title) == "Doubling"
    assert str(listed[toy].parameters[0].label) == "Number"


def test_it_runs(toy: str) -> None:
    result = run_topic(toy, read_parameters(find_topic(toy), {"number": "3"}))
    assert str(result.found) == "Twice 3 is 6."
    assert TopicResult.model_validate_json(result.model_dump_json()) == result
    with pytest.raises(ApiError, match="from 0 to 9"):
        read_parameters(find_topic(toy), {"number": "10"})


@pytest.fixture(scope="module")
def make_playground() -> ModuleType:
    """docs/make_playground.py, which is no part of a package."""
    spec = importlib.util.spec_from_file_location("make_playground", DOCS / "make_playground.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_documents_list_it(toy: str, make_playground: ModuleType) -> None:
    page = make_playground.write_page("# Before\n\n| topic | x |\n|---|---|\n| old | x |\n\nAfter\n")
    assert f"| `{toy}` | Doubling | What is twice a number? | The number. |\n\nAfter\n" in page
    assert "old" not in page


def test_the_documents_list_the_topics_as_they_are(make_playground: ModuleType) -> None:
    page = (DOCS / "playground.md").read_text(encoding="utf-8")
    assert make_playground.write_page(page) == page, "run `python docs/make_playground.py`"
