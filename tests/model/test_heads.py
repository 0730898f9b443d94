"""Heads: one vector of many, classes, masked words."""

import pytest
import torch

from glassformer.config import ModelConfig
from glassformer.model.heads import pool
from glassformer.model.transformer import Transformer

SMALL = {"width": 16, "heads": 2, "layers": 2, "feed_forward": 32, "max_length": 24, "dropout": 0.0}


def build(seed=0, **changes):
    torch.manual_seed(seed)
    return Transformer(ModelConfig(30, **{**SMALL, **changes})).eval()


def draw(seed, rows, length):
    return torch.randint(0, 30, (rows, length), generator=torch.Generator().manual_seed(seed))


def test_tied_embeddings_are_one_tensor():
    tied, untied = build(), build(tie_embeddings=False)
    assert tied.output_vectors() is tied.embeddings.tokens.weight
    assert untied.output_vectors() is not untied.embeddings.tokens.weight
    assert sum(p.numel() for p in untied.parameters()) - sum(p.numel() for p in tied.parameters()) == 30 * 16


def test_pooling_on_paper():
    hidden = torch.tensor([[[1.0, 5.0], [3.0, 1.0], [100.0, 100.0]]])
    real = torch.tensor([[True, True, False]])
    assert pool(hidden, real, "first").tolist() == [[1.0, 5.0]]
    assert pool(hidden, real, "mean").tolist() == [[2.0, 3.0]]
    assert pool(hidden, real, "max").tolist() == [[3.0, 5.0]]
    left = torch.tensor([[False, True, True]])
    assert pool(hidden, left, "first").tolist() == [[3.0, 1.0]]


@pytest.mark.parametrize("shape", ["encoder", "decoder"])
@pytest.mark.parametrize("pooling", ["first", "mean", "max"])
def test_a_classifier_gives_one_score_for_each_class(shape, pooling):
    network = build(shape=shape, head="classes", classes=3, pooling=pooling, pooler=True)
    assert network(draw(0, 4, 6)).shape == (4, 3)


def test_without_a_head_hidden_states_come_out():
    assert build(shape="encoder", head="none")(draw(0, 2, 5)).shape == (2, 5, 16)
