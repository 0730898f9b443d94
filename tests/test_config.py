"""A configuration is possible or refused at once, with the setting that is wrong and the way out."""

from typing import Any

import pytest

from glassformer.config import ModelConfig, RecurrentConfig
from glassformer.errors import ConfigurationError


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"heads": 5}, r"width = 512 cannot be divided among heads = 5; .*such as 4"),
        ({"width": 6, "heads": 2, "positions": "rotary"}, "a head is 3 wide"),
        ({"width": 9, "heads": 3}, "sine and cosine pairs"),
        ({"layers": 0}, r"layers = 0 .* a whole number \(at least 1, at most 10000\)"),
        ({"layers": True}, "layers = True .* a whole number"),
        ({"layers": "6"}, "layers = '6' .* a whole number"),
        ({"decoder_layers": 2.0}, r"a whole number \(.*\) or nothing"),
        ({"positions": "rotory"}, "one of 'sinusoidal'"),
        ({"dropout": 1.0}, r"dropout = 1.0 .* \(at least 0, below 1\)"),
        ({"feed_forward_dropout": -0.1}, "feed_forward_dropout = -0.1 "),
        ({"dropout": float("nan")}, "dropout = nan "),
        ({"norm_epsilon": float("nan")}, "norm_epsilon"),
        ({"end_id": 100}, "end_id = 100 is not in the vocabulary of 100"),
        ({"segments": -1}, r"segments = -1 .*at least 0"),
        ({"basic_attention": True, "similarity": "additive"}, "has no parameters"),
        ({"head": "classes", "shape": "encoder"}, "how many classes"),
        ({"head": "classes", "classes": 2}, "one stack"),
        ({"head": "masked"}, "shape = 'encoder'"),
        ({"head": "none"}, "cannot generate"),
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        ModelConfig(100, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"width": 7}, "7 is odd"), ({"cell": "rnn"}, "'gru', 'lstm'"), ({"padding_id": 9}, "padding_id = 9")],
)
def test_recurrent_ones_too(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        RecurrentConfig(9, **settings)


def test_a_stack_is_as_deep_as_is_said() -> None:
    assert ModelConfig(9).depth == {"encoder": 6, "decoder": 6}
    assert ModelConfig(9, decoder_layers=2).depth == {"encoder": 6, "decoder": 2}
    assert ModelConfig(9, shape="decoder", layers=3, decoder_layers=2).depth == {"decoder": 3}
    assert ModelConfig(9, shape="encoder", layers=3).depth == {"encoder": 3}
