"""Estimates of what a run takes, against networks that were really built."""

from pathlib import Path
from typing import Any

import pytest

from glassformer.config import ModelConfig, RecurrentConfig
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.training.head_statistics import STATISTICS
from glassformer.workbench.recipe_sizes import estimate
from recipe_mutants import RECIPE

SIZE = 500


@pytest.mark.parametrize(
    ("model", "task"),
    [
        ({"layers": 2, "width": 64, "heads": 4, "feed_forward": 128}, "language_modelling"),
        ({"layers": 3, "width": 48, "heads": 4, "positions": "learned"}, "classification"),
        ({"layers": 2, "decoder_layers": 1, "width": 64, "heads": 4}, "translation"),
        ({"kind": "recurrent", "width": 64, "embedding_width": 32}, "translation"),
        ({"layers": 4, "width": 64, "heads": 4, "share_layers": True}, "language_modelling"),
    ],
)
def test_parameters_are_rather_too_many_than_too_few(model: dict[str, Any], task: str) -> None:
    tables = {**RECIPE, "task": {"name": task}, "model": model, "tokenizer": {"size": SIZE}}
    settings = {name: value for name, value in model.items() if name != "kind"}
    settings["vocabulary_size"] = SIZE + 1000
    if model.get("kind") == "recurrent":
        network: Any = RecurrentTranslator(RecurrentConfig(**settings))
    else:
        shape = {"translation": "encoder-decoder", "classification": "encoder"}.get(task, "decoder")
        network = Transformer(ModelConfig(shape=shape, **settings))
    real = sum(weights.numel() for weights in network.parameters())
    estimated = estimate(tables, None).parameters
    assert estimated is not None
    assert real <= estimated <= 3 * real


def test_a_model_to_start_from_is_measured_by_its_file() -> None:
    zoo = Path(__file__).parents[2] / "src" / "glassformer" / "zoo" / "bert"
    tables = {**RECIPE, "model": {"start": "zoo/bert"}}
    sizes = estimate(tables, zoo)
    assert sizes.parameters is not None
    assert sizes.parameters > 1_000_000
    assert estimate(tables, None).parameters is None  # a model of the hub


def test_more_steps_and_averages_take_more_disk() -> None:
    more = {**RECIPE, "train": {"steps": 1000, "average": 5, "ema": 0.9}}
    assert (estimate(more, None).disk or 0) > (estimate(RECIPE, None).disk or 0)


@pytest.mark.parametrize(
    ("table", "little", "much", "least"),
    [
        # one map with two heads of ten numbers of nine bytes, at each step
        ("monitor", {"every": 0}, {"every": 1}, 1 * 2 * len(STATISTICS) * 9 * 10_000),
        ("probe", {"megabytes": 1}, {"megabytes": 100}, 99_000_000),
        ("probe", {"count": 0}, {"count": 1}, 32_000_000),
        ("train", {"steps": 10_000}, {"steps": 10_000, "evaluate_every": 10}, 990 * 24_000),
    ],
)
def test_heads_probes_and_samples_take_disk(
    table: str, little: dict[str, Any], much: dict[str, Any], least: int
) -> None:
    tables = {**RECIPE, "train": {"steps": 10_000}}
    first, second = (estimate({**tables, table: values}, None).disk for values in (little, much))
    assert first is not None
    assert second is not None
    assert second - first >= least
