"""The recipes that ship: every line says what it does, every word is known, models are what they claim."""

from pathlib import Path
from typing import Any

import pytest

from glassformer.config import ModelConfig, RecurrentConfig, read_settings
from glassformer.tasks.task import read_task
from glassformer.text.vocabulary import VocabularySettings
from glassformer.training.initial_network import build_network
from glassformer.training.recipe import read_recipe
from glassformer.weights.checkpoint import explain_format

FOLDER = Path(__file__).parents[2] / "recipes"
RECIPES = sorted(path.name for path in FOLDER.glob("*.toml"))
WORDS: dict[str, dict[str, Any]] = {
    "language_modelling": {
        "shape": "decoder",
        "head": "language",
        "padding_id": 0,
        "start_id": 0,
        "end_id": 0,
    },
    "masked_language_modelling": {
        "shape": "encoder",
        "head": "masked",
        "output_bias": True,
        "segments": 2,
        "padding_id": 0,
    },
    "translation": {
        "shape": "encoder-decoder",
        "head": "language",
        "padding_id": 0,
        "start_id": 2,
        "end_id": 3,
    },
}
WORDS["classification"] = {"shape": "encoder", "head": "classes", "classes": 2, "padding_id": 0}
KINDS = {
    "gpt2.toml": "gpt2",
    "shakespeare.toml": "gpt2",
    "bert.toml": "bert",
    "sentiment.toml": "bert",
    "multi30k.toml": "marian",
    "albert.toml": "albert",
    "translator.toml": "marian",
}


class Words:
    """A task, as far as a network needs one."""

    def __init__(self, words: dict[str, Any]) -> None:
        self._words = words

    def network_settings(self) -> dict[str, Any]:
        return {"vocabulary_size": 500, **self._words}


def test_there_are_recipes() -> None:
    assert {"first.toml", *KINDS} <= set(RECIPES)


@pytest.mark.parametrize("name", RECIPES)
def test_every_line_is_commented_and_every_word_known(name: str) -> None:
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        assert not line or "#" in line, line
    recipe = read_recipe(FOLDER / name)
    read_task(recipe.tables["task"])
    read_settings(VocabularySettings, recipe.tables.get("tokenizer", {}))


@pytest.mark.parametrize("name", RECIPES)
def test_networks_are_of_the_kind_they_claim(name: str) -> None:
    recipe = read_recipe(FOLDER / name)
    network, _ = build_network(recipe.tables["model"], Words(WORDS[recipe.tables["task"]["name"]]))  # type: ignore[arg-type]
    assert isinstance(network.config, ModelConfig | RecurrentConfig)
    if name in KINDS:
        assert explain_format(network.config)[KINDS[name]] is None
