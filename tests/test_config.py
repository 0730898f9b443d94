"""A configuration is possible or refused at once, with the setting that is wrong and the way out."""

from typing import Any

import pytest

from glassformer.config import ModelConfig, RecurrentConfig
from glassformer.errors import ConfigurationError
from glassformer.settings import read_settings


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
        ({"key_heads": 3}, r"heads = 8 .* key_heads = 3; .* such as 2"),
        ({"key_heads": 0}, "key_heads = 0 .*at least 1"),
        ({"key_heads": 16}, "such as 8"),
        ({"window": 0}, "window = 0 .*at least 1"),
        ({"window": 2.5}, "window = 2.5 .* a whole number"),
        ({"score_scale": 0}, "score_scale = 0 .*above 0"),
        ({"score_scale": float("inf")}, "score_scale = inf .*finite"),
        ({"score_scale": "sqrt"}, "score_scale = 'sqrt' .* a number"),
        ({"query_key_norm": 1}, "query_key_norm = 1"),
        ({"basic_attention": True, "query_key_norm": True}, "query_key_norm = false"),
        ({"basic_attention": True, "key_heads": 2}, "leave key_heads out"),
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
    [
        ({}, "set `vocabulary_size`"),
        ({"reads": "picture"}, "set `vocabulary_size`"),  # its decoder writes words
        ({"reads": "sound", "shape": "decoder", "vocabulary_size": 9}, "read by an encoder"),
        ({"reads": "picture", "head": "masked"}, "neither masked words"),
        ({"reads": "picture", "patch_size": 15}, "such as 14"),
        ({"reads": "picture", "positions": "alibi"}, "rows and columns"),
        ({"reads": "picture", "window": 4}, "rows and columns"),
        ({"reads": "picture", "positions": "rotary", "width": 12, "heads": 2}, "multiple of 4"),
        ({"reads": "picture", "width": 18, "heads": 2}, "multiple of 4"),
        ({"reads": "sound", "frame_stride": 3}, "1, 2 or 4"),
    ],
)
def test_what_cannot_look_or_listen_is_refused(settings: dict[str, Any], message: str) -> None:
    shape = {"shape": "encoder", "head": "none"} if settings.get("reads") and len(settings) > 1 else {}
    with pytest.raises(ConfigurationError, match=message):
        ModelConfig(**{**shape, **settings})


def test_a_classifier_of_pictures_needs_no_words() -> None:
    config = ModelConfig(reads="picture", shape="encoder", head="classes", classes=2, patch_size=32)
    assert (config.has_words, config.grid) == (False, 7)
    assert ModelConfig(9).has_words


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


def test_a_recurrent_network_has_no_window() -> None:
    with pytest.raises(ConfigurationError, match=r"RecurrentConfig.*window"):
        read_settings(RecurrentConfig, {"vocabulary_size": 9, "window": 4})


def test_scores_are_multiplied_by_what_is_said_or_what_the_similarity_has() -> None:
    assert ModelConfig(9, width=64, heads=4).score_factor == 0.25
    assert ModelConfig(9, width=64, heads=4, score_scale=2).score_factor == 2.0
    assert ModelConfig(9, similarity="cosine").score_factor == 1.0
    assert ModelConfig(9, similarity="cosine", score_scale=10.0).score_factor == 10.0


def test_keys_are_as_wide_as_their_heads() -> None:
    assert ModelConfig(9, width=64, heads=8).key_width == 64
    assert ModelConfig(9, width=64, heads=8, key_heads=2).key_width == 16
    assert ModelConfig(9, width=64, heads=8, key_heads=8, basic_attention=True).key_width == 64
