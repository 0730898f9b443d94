"""Published models: offered by name, with what they need."""

from pathlib import Path

import pytest

from glassformer.errors import ApiError
from glassformer.weights.hub import ZOO
from glassformer.weights.presets import PRESETS
from glassformer.workbench import models
from glassformer.workbench.models import ModelCatalog


def test_published_models_say_what_they_need(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "was_fetched", lambda name: name == "albert/albert-base-v2")
    for offline, code in ((False, "download"), (True, "offline")):
        found = {each.name: each for each in ModelCatalog(zoo, (), offline=offline).published()}
        gpt2, albert = found["openai-community/gpt2"], found["albert/albert-base-v2"]
        assert gpt2.origin == "hub"
        assert gpt2.needs is not None
        assert gpt2.needs.code == f"workbench.published.{code}"
        assert dict(gpt2.needs.parameters) == {"megabytes": 548, "memory": 496}
        assert albert.needs is not None
        assert albert.needs.code == "workbench.published.fetched"
        assert set(gpt2.tasks) == {"language_modelling", "generation"}


def test_their_sizes_are_those_of_the_presets(zoo: Path) -> None:
    found = {each.name.split("/")[-1]: each for each in ModelCatalog(zoo, (), offline=True).published()}
    compared = {name: PRESETS[name] for name in found if name in PRESETS}
    assert len(compared) >= 3
    for name, config in compared.items():
        each = found[name]
        assert (each.layers, each.heads, each.width) == (config.layers, config.heads, config.width)
        assert (each.vocabulary, each.max_tokens) == (config.vocabulary_size, config.max_length)


def test_without_a_network_one_that_was_never_fetched_is_refused(
    zoo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "was_fetched", lambda _: False)
    with pytest.raises(ApiError, match="the hub may not be asked"):
        ModelCatalog(zoo, (), offline=True).find("openai-community/gpt2")
    found = ModelCatalog(zoo, (), offline=False).find("Helsinki-NLP/opus-mt-en-fr")
    assert found.description is not None
    assert found.description.languages == ("en", "fr")
    assert not found.tagged


def test_shipped_models_say_that_they_are_small_ones_trained_here() -> None:
    for model in ModelCatalog(ZOO, (), offline=True).models():
        assert model.description is not None
        assert model.description.title is not None, model.name
        assert "small" in str(model.description.title)
        assert "trained here" in str(model.description.title)
        assert model.description.samples or model.description.reads != "text", model.name
