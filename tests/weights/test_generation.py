"""Generation defaults of a published folder in our words, and back."""

from pathlib import Path
from typing import Any

import pytest

from glassformer.config import ModelConfig, RecurrentConfig, Shape
from glassformer.errors import CheckpointError
from glassformer.model.generation_settings import GenerationSettings
from glassformer.weights.generation import find_generation, read_generation, write_generation

PATH = Path("generation_config.json")


def read(values: dict[str, Any], shape: Shape = "encoder-decoder", end_id: int = 2) -> GenerationSettings:
    return read_generation(
        PATH, values, ModelConfig(vocabulary_size=9, shape=shape, start_id=1, end_id=end_id)
    )


def test_what_an_opus_model_says() -> None:
    said = {"num_beams": 6, "max_length": 512, "bad_words_ids": [[58100]], "forced_eos_token_id": 0}
    assert read(said, end_id=0) == GenerationSettings(
        beams=6, max_new_tokens=511, forbidden=(58100,), force_end=True
    )


def test_only_the_end_itself_is_forced() -> None:
    assert read({"forced_eos_token_id": [5, 2]}).force_end
    assert not read({"forced_eos_token_id": 5}).force_end  # another token than the one that ends a text
    assert not read({"forced_eos_token_id": None}).force_end


def test_nothing_said_is_greedy() -> None:
    assert read({}) == GenerationSettings()
    assert read({"max_length": 20}, "decoder") == GenerationSettings()  # there it counts the prompt, too


def test_sampling() -> None:
    settings = read({"do_sample": True, "temperature": 0.7, "top_p": 0.9}, "decoder")
    assert settings == GenerationSettings(sample=True, temperature=0.7, top_p=0.9, top_k=50)
    assert read({"do_sample": True, "top_k": 0}).top_k is None
    assert read({"do_sample": True, "num_beams": 4}) == GenerationSettings(beams=4, top_k=50)


def test_the_weight_of_what_an_encoder_tells_is_kept() -> None:
    config = ModelConfig(vocabulary_size=9, start_id=1, end_id=2)
    settings = GenerationSettings(ctc=0.3)
    assert read(write_generation(config, settings)) == settings


def test_forbidden_phrases_are_left_out() -> None:
    assert read({"bad_words_ids": [[3, 4], [5]]}).forbidden == (5,)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"temperature": "hot"}, "temperature = 'hot'"),
        ({"top_p": 3}, "top_p"),
        ({"bad_words_ids": [["x"]]}, "forbidden"),
    ],
)
def test_nonsense_is_refused_with_the_file(values: dict[str, Any], message: str) -> None:
    with pytest.raises(CheckpointError, match=rf"generation_config\.json: .*{message}"):
        read(values)


def test_old_folders_say_it_in_config_json(tmp_path: Path) -> None:
    assert find_generation(tmp_path, {"num_beams": 6}) == {"num_beams": 6}
    (tmp_path / "generation_config.json").write_text('{"num_beams": 2}')
    assert find_generation(tmp_path, {"num_beams": 6}) == {"num_beams": 2}


@pytest.mark.parametrize(
    "settings",
    [
        GenerationSettings(),
        GenerationSettings(
            beams=4, length_penalty=0.6, early_stopping=True, forbidden=(1, 2), max_new_tokens=7
        ),
        GenerationSettings(force_end=True),
        GenerationSettings(sample=True, temperature=0.5, top_k=None, top_p=0.8),
        GenerationSettings(sample=True, top_k=5, repetition_penalty=1.2, no_repeat_ngram=3, min_new_tokens=2),
    ],
)
def test_there_and_back(settings: GenerationSettings) -> None:
    config = ModelConfig(vocabulary_size=9, start_id=1, end_id=2)
    assert read(write_generation(config, settings)) == settings


def test_special_tokens_are_written_for_each_shape() -> None:
    both = ModelConfig(vocabulary_size=9, start_id=1, end_id=2, padding_id=3)
    expected = {"pad_token_id": 3, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    assert write_generation(both, None) == expected
    decoder = ModelConfig(vocabulary_size=9, shape="decoder", end_id=2)
    assert write_generation(decoder, None) == {"pad_token_id": 0, "eos_token_id": 2}
    assert (
        write_generation(RecurrentConfig(vocabulary_size=9, start_id=4), None)["decoder_start_token_id"] == 4
    )
