"""The scripts beside the recipes: each can be imported with the library as it is."""

import random
import runpy
import sys
from pathlib import Path

import pytest

RECIPES = Path(__file__).parents[2] / "recipes"


@pytest.mark.parametrize("script", sorted(RECIPES.glob("*.py")), ids=lambda path: path.stem)
def test_a_script_imports(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(RECIPES), *sys.path])  # as Python does for `python recipes/x.py`
    assert callable(runpy.run_path(str(script))["main"])


def test_made_sentences_never_have_tom_chase_jerry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(RECIPES), *sys.path])
    pairs = runpy.run_path(str(RECIPES / "other_words.py"))["make_pairs"](random.Random(1))
    assert any("追逐" in chinese for _, chinese in pairs)
    assert not [english for english, _ in pairs if "Tom" in english and "Jerry" in english]
