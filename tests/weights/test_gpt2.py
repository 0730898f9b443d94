"""GPT-2: old buffers, defaults, unscaled scores, tied weights."""

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


def test_gpt2s_old_buffers(make: Make, answer: Make) -> None:
    model = make("GPT2LMHeadModel")
    old = model.state_dict()
    for layer in range(2):
        old[f"transformer.h.{layer}.attn.bias"] = torch.ones(1, 1, 16, 16)
        old[f"transformer.h.{layer}.attn.masked_bias"] = torch.tensor(-1e4)
    assert torch.equal(answer(load(model, old)), answer(adopt(model)))


def test_missing_settings_have_the_familys_defaults() -> None:
    config = FAMILIES["gpt2"].read_config({"architectures": ["GPT2Model"]})
    assert (config.layers, config.width, config.feed_forward, config.end_id) == (12, 768, 3072, 50256)


def test_a_token_outside_the_vocabulary_cannot_occur(make: Make) -> None:
    settings = settings_of(make("GPT2LMHeadModel"), eos_token_id=50256, pad_token_id=-1, bos_token_id=[5, 6])
    config = FAMILIES["gpt2"].read_config(settings)
    assert (config.end_id, config.padding_id, config.start_id) == (None, 0, 5)


def test_unscaled_gpt2(make: Make, answer: Make) -> None:
    model = make("GPT2LMHeadModel", scale_attn_weights=False)
    network = adopt(model)
    assert network.config.similarity == "dot"
    assert_near(answer(network), answer(model), layers=2)


def test_a_contradiction_between_tied_weights_is_refused(make: Make) -> None:
    model = make("GPT2LMHeadModel")
    tensors = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    tensors["lm_head.weight"] += 1
    with pytest.raises(CheckpointError, match=r"ties lm_head\.weight to transformer\.wte\.weight"):
        load(model, tensors)
