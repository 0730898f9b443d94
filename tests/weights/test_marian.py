"""Marian: one embedding under four names, fixed sines, an optional bias, settings of both stacks."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from families import load, settings_of
from glassformer.errors import CheckpointError
from glassformer.weights.checkpoint import adopt
from glassformer.weights.family import FAMILIES
from tolerances import assert_near

Make = Callable[..., Any]


@pytest.mark.parametrize(
    "name",
    [
        "model.shared.weight",
        "model.encoder.embed_tokens.weight",
        "model.decoder.embed_tokens.weight",
        "lm_head.weight",
    ],
)
def test_marians_one_embedding_under_any_name(name: str, make: Make, answer: Make) -> None:
    model = make("MarianMTModel")
    tensors = model.state_dict()
    words = tensors["model.shared.weight"]
    for other in ("shared", "encoder.embed_tokens", "decoder.embed_tokens"):
        del tensors[f"model.{other}.weight"]
    del tensors["lm_head.weight"]
    assert torch.equal(answer(load(model, tensors | {name: words})), answer(adopt(model)))


def test_marians_dropout_of_activations_is_kept(make: Make) -> None:
    settings = settings_of(make("MarianMTModel")) | {"activation_dropout": 0.2}
    config = FAMILIES["marian"].read_config(settings)
    assert config.feed_forward_dropout == 0.2
    written = FAMILIES["marian"].write_config(config)
    assert isinstance(written, dict)
    assert written["activation_dropout"] == 0.2


def test_marian_without_a_bias_of_words(make: Make, answer: Make) -> None:
    model = make("MarianMTModel")
    tensors = model.state_dict()
    del tensors["final_logits_bias"]
    model.final_logits_bias.zero_()
    assert_near(answer(load(model, tensors)), answer(model), layers=2)


def test_marians_positions_must_be_the_sines(make: Make) -> None:
    model = make("MarianMTModel")
    tensors = model.state_dict()
    assert "model.encoder.embed_positions.weight" in tensors
    tensors["model.decoder.embed_positions.weight"] = torch.randn(16, 12)
    with pytest.raises(CheckpointError, match=r"decoder\.embed_positions\.weight differs from the fixed"):
        load(model, tensors)
