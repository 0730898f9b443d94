"""Generation settings under our names and those of transformers."""

from typing import Any

import pytest
from transformers import GenerationConfig

import glassformer
from glassformer.errors import ConfigurationError
from glassformer.model import choosing
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


def test_the_old_import_path_warns() -> None:
    with pytest.warns(DeprecationWarning, match="generation_settings.GenerationSettings"):
        assert choosing.GenerationSettings is GenerationSettings
    with pytest.warns(DeprecationWarning, match="sampling.best_of"):
        assert callable(choosing.best_of)
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = choosing.other
    assert glassformer.GenerationSettings is GenerationSettings
