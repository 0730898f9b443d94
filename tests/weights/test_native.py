"""Our own words in config.json: every one of them comes back, and nothing else is let in."""

import json

import pytest
import torch

from glassformer.config import ModelConfig, RecurrentConfig
from glassformer.errors import ConfigurationError
from glassformer.weights.native import native_table, read_native_config, write_native_config

CONFIGS = [
    ModelConfig(vocabulary_size=9, width=8, heads=2, positions="relative", best_keys=1, end_id=3),
    ModelConfig(vocabulary_size=9, shape="encoder", head="classes", classes=4, pooling="max", dropout=0.0),
    ModelConfig(vocabulary_size=9, shape="encoder", head="tags", classes=4, dropout=0.0),
    ModelConfig(vocabulary_size=9, shape="encoder", head="numbers", classes=2, dropout=0.0),
    ModelConfig(9, width=8, heads=4, key_heads=2, window=3, query_key_norm=True, score_scale=0.3),
    ModelConfig(9, positions="alibi"),
    RecurrentConfig(vocabulary_size=9, context="fixed", cell="lstm", bidirectional=False),
]


@pytest.mark.parametrize("config", CONFIGS)
def test_a_configuration_comes_back(config: ModelConfig | RecurrentConfig) -> None:
    written = json.loads(json.dumps(write_native_config(config)))
    assert read_native_config(written) == config


def test_a_value_that_cannot_be_is_refused() -> None:
    written = write_native_config(CONFIGS[0]) | {"heads": 3}
    with pytest.raises(ConfigurationError, match="width = 8 cannot be divided among heads = 3"):
        read_native_config(written)


def test_every_name_stands_for_itself() -> None:
    rules = native_table({"a": torch.zeros(1), "b": torch.zeros(2)}).rules
    assert [(rule.theirs, rule.ours) for rule in rules] == [(("a",), "a"), (("b",), "b")]
