"""BERT: its second head, old names and buffers, activations, and why another classifier is none."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
import torch

from families import load
from glassformer.config import ModelConfig
from glassformer.weights.checkpoint import adopt
from glassformer.weights.family import FAMILIES
from tolerances import assert_near

Make = Callable[..., Any]


def test_a_pretrained_bert_opens_as_a_masked_one_without_its_second_head(make: Make, answer: Make) -> None:
    model = make("BertForPreTraining")
    masked = make("BertForMaskedLM")
    assert masked.config.to_dict().keys() == model.config.to_dict().keys()
    network = load(masked, model.state_dict())  # as the file of bert-base-uncased has it
    assert not network.config.relation
    assert_near(answer(network), answer(model), layers=2)


def test_berts_old_names_and_buffers(make: Make, answer: Make) -> None:
    model = make("BertForPreTraining")
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): tensor
        for name, tensor in model.state_dict().items()
    }
    assert any(name.endswith("gamma") for name in old)
    old["bert.embeddings.position_ids"] = torch.arange(16)[None]
    assert torch.equal(answer(load(model, old)), answer(adopt(model)))


@pytest.mark.parametrize(
    "activation", ["relu", "gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "silu", "swish"]
)
def test_every_activation_we_claim_to_know(activation: str, make: Make, answer: Make) -> None:
    model = make("BertForMaskedLM", hidden_act=activation)
    assert_near(answer(adopt(model)), answer(model), layers=2)


def test_a_classifier_of_another_kind_stays_ours() -> None:
    config = ModelConfig(
        vocabulary_size=9, shape="encoder", width=8, heads=2, positions="learned", head="classes", classes=2
    )
    config = dataclasses.replace(
        config, embedding_norm=True, scale_embeddings=False, segments=1, pooling="mean", pooler=True
    )
    reason = FAMILIES["bert"].write_config(config)
    assert str(reason) == "pooling = 'mean' is not one of 'first'"
    assert "pooler" in str(
        FAMILIES["bert"].write_config(dataclasses.replace(config, pooling="first", pooler=False))
    )
    assert isinstance(FAMILIES["bert"].write_config(dataclasses.replace(config, pooling="first")), dict)
