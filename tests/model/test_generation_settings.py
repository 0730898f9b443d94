"""Generation settings under our names and those of transformers."""

import math
from typing import Any

import pytest
from transformers import GenerationConfig

from glassformer.errors import ConfigurationError
from glassformer.model.generation_settings import GenerationSettings


def test_a_mapping_may_use_our_names_or_those_of_transformers() -> None:
    ours = GenerationSettings.from_mapping({"beams": 4, "no_repeat_ngram": 2, "forbidden": [3]})
    theirs = {"num_beams": 4, "no_repeat_ngram_size": 2, "suppress_tokens": [3]}
    assert GenerationSettings.from_mapping(theirs) == ours
    assert ours == GenerationSettings(beams=4, no_repeat_ngram=2, forbidden=(3,))


def test_a_mapping_with_top_k_0_draws_from_all_tokens() -> None:
    assert GenerationSettings.from_mapping({"do_sample": True, "top_k": 0}).top_k is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"num_beams": 2, "beams": 3}, "num_beams and beams are the same setting"),
        ({"num_beam": 2}, "no setting 'num_beam'"),
        ({"do_sample": "yes"}, "sample = 'yes'"),
    ],
)
def test_a_mapping_that_cannot_be_read_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        GenerationSettings.from_mapping(values)


def test_a_generation_config_is_read() -> None:
    config = GenerationConfig(
        do_sample=True, temperature=0.5, max_new_tokens=9, eos_token_id=2, suppress_tokens=[7]
    )
    read = GenerationSettings.from_transformers(config)
    assert read == GenerationSettings(
        sample=True, temperature=0.5, top_k=50, max_new_tokens=9, forbidden=(7,)
    )


def test_what_a_translator_of_transformers_asks_for() -> None:
    config = GenerationConfig(num_beams=4, max_length=512, bad_words_ids=[[9]], forced_eos_token_id=0)
    read = GenerationSettings.from_transformers(config, encoder_decoder=True, end_id=0)
    assert read == GenerationSettings(beams=4, max_new_tokens=511, forbidden=(9,), force_end=True)


@pytest.mark.parametrize(
    ("config", "code"),
    [
        (GenerationConfig(max_length=50), "model.generation.max_length"),
        (GenerationConfig(typical_p=0.5), "model.generation.unsupported"),
        (GenerationConfig(do_sample=True, num_beams=2), "model.generation.sampled_beams"),
        (GenerationConfig(bad_words_ids=[[1, 2]]), "model.generation.phrases"),
        (4, "model.generation.not_settings"),
    ],
)
def test_a_generation_config_that_we_cannot_follow_is_refused(config: object, code: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        GenerationSettings.from_transformers(config)
    assert error.value.message.code == code


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"max_new_tokens": 0}, "max_new_tokens = 0 is not possible"),
        ({"min_new_tokens": -1}, "min_new_tokens = -1 is not possible"),
        ({"min_new_tokens": 5, "max_new_tokens": 4}, "larger than max_new_tokens = 4"),
        ({"beams": 0}, "beams = 0 is not possible"),
        ({"beams": 2.0}, "must be a whole number"),
        ({"beams": 2, "n_best": 3}, "n_best = 3 hypotheses cannot come from beams = 2"),
        ({"beams": 2, "sample": True}, "Set beams = 1 or sample = false"),
        ({"length_penalty": 11.0}, r"\(at least -10, at most 10\)"),
        ({"length_penalty": math.nan}, r"\(at least -10, at most 10\)"),
        ({"temperature": 0.0}, "temperature = 0.0 is not possible"),
        ({"temperature": math.nan}, "temperature = nan is not possible"),
        ({"repetition_penalty": -1.0}, "repetition_penalty = -1.0 is not possible"),
        ({"top_k": 0}, "top_k = 0 is not possible"),
        ({"top_p": 1.5}, "at most 1"),
        ({"top_p": "all"}, "must be a number"),
        ({"no_repeat_ngram": -2}, "no_repeat_ngram = -2 is not possible"),
        ({"alternatives": -1}, "alternatives = -1 is not possible"),
        ({"forbidden": (1, -5)}, r"a list, each of which is a whole number \(at least 0\)"),
        ({"seed": "lucky"}, "seed = 'lucky' is not possible"),
        ({"early_stopping": 1}, "must be true or false"),
    ],
)
def test_impossible_settings_are_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        GenerationSettings(**words)
