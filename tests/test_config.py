"""A configuration is possible or refused at once, with the word that is wrong and the way out."""

from pathlib import Path
from typing import Any

import pytest

from glassformer.config import ModelConfig, RecurrentConfig, read_settings, read_toml
from glassformer.errors import ConfigurationError


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"heads": 5}, r"width = 512 cannot be divided among heads = 5; .*such as 4"),
        ({"width": 6, "heads": 2, "positions": "rotary"}, "a head is 3 wide"),
        ({"width": 9, "heads": 3}, "sine and cosine pairs"),
        ({"layers": 0}, "layers = 0 is too small"),
        ({"layers": True}, "layers = True .* a whole number"),
        ({"layers": "6"}, "layers = '6' .* a whole number"),
        ({"decoder_layers": 2.0}, "a whole number or nothing"),
        ({"positions": "rotory"}, "one of 'sinusoidal'"),
        ({"dropout": 1.0}, "dropout = 1.0 is out of range"),
        ({"feed_forward_dropout": -0.1}, "feed_forward_dropout = -0.1 is out of range"),
        ({"dropout": float("nan")}, "out of range"),
        ({"norm_epsilon": float("nan")}, "norm_epsilon"),
        ({"end_id": 100}, "end_id = 100 is not in the vocabulary of 100"),
        ({"segments": -1}, "below 0"),
        ({"basic_attention": True, "similarity": "additive"}, "has no parameters"),
        ({"head": "classes", "shape": "encoder"}, "how many classes"),
        ({"head": "classes", "classes": 2}, "one stack"),
        ({"head": "masked"}, "shape = 'encoder'"),
        ({"head": "none"}, "cannot generate"),
    ],
)
def test_what_cannot_be_is_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        ModelConfig(100, **words)


@pytest.mark.parametrize(
    ("words", "message"),
    [({"width": 7}, "7 is odd"), ({"cell": "rnn"}, "'gru', 'lstm'"), ({"padding_id": 9}, "padding_id = 9")],
)
def test_recurrent_ones_too(words: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        RecurrentConfig(9, **words)


def test_a_stack_is_as_deep_as_is_said() -> None:
    assert ModelConfig(9).depth == {"encoder": 6, "decoder": 6}
    assert ModelConfig(9, decoder_layers=2).depth == {"encoder": 6, "decoder": 2}
    assert ModelConfig(9, shape="decoder", layers=3, decoder_layers=2).depth == {"decoder": 3}
    assert ModelConfig(9, shape="encoder", layers=3).depth == {"encoder": 3}


def test_words_come_from_a_mapping() -> None:
    assert read_settings(ModelConfig, {"vocabulary_size": 9, "dropout": 0}) == ModelConfig(9, dropout=0)
    with pytest.raises(ConfigurationError, match=r"no setting 'haeds'\. Did you mean 'heads'\?"):
        read_settings(ModelConfig, {"vocabulary_size": 9, "haeds": 3})
    with pytest.raises(ConfigurationError, match="needs vocabulary_size"):
        read_settings(ModelConfig, {})


def test_words_come_from_toml(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text("[model]\nheads = 4\n", encoding="utf-8")
    assert read_toml(path) == {"model": {"heads": 4}}
    path.write_text("heads = = 4\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="not valid TOML"):
        read_toml(path)
    with pytest.raises(ConfigurationError, match="Check the path"):
        read_toml(tmp_path / "absent.toml")
