"""ALBERT: one block at every depth and narrow embeddings; what is none says why."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from glassformer.messages import Message
from glassformer.weights.albert import ALBERT
from glassformer.weights.checkpoint import adopt

Make = Callable[..., Any]


def test_one_block_stands_for_every_layer(make: Make) -> None:
    network = adopt(make("AlbertModel"))
    assert network.encoder is not None
    assert (network.encoder.depth, len(network.encoder.layers)) == (2, 1)
    assert network.embeddings.tokens.weight.shape[1] == network.config.embedding_width == 8
    layer = {
        rule.theirs
        for rule in ALBERT.table(network.config).rules
        if rule.ours == "encoder.layers.0.feed_forward.expand.weight"
    }
    assert layer == {("albert.encoder.albert_layer_groups.0.albert_layers.0.ffn.weight",)}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"share_layers": False}, "share_layers"),
        ({"embedding_width": None}, "embedding_width"),
        ({"segments": 0}, "segments"),
    ],
)
def test_a_bert_is_no_albert(make: Make, change: dict[str, Any], word: str) -> None:
    config = dataclasses.replace(adopt(make("AlbertForMaskedLM")).config, **change)
    reason = ALBERT.write_config(config)
    assert isinstance(reason, Message)
    assert word in str(reason)
