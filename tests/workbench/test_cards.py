"""What is known about a model before it is opened."""

import json
from pathlib import Path
from typing import Any

import pytest

from glassformer.messages import message
from glassformer.weights.hub import ZOO
from glassformer.workbench.cards import (
    ModelCard,
    count_parameters,
    describe_model,
    find_languages,
    find_reads,
    read_model_card,
)
from glassformer.workbench.models import ModelCatalog


@pytest.mark.slow
def test_descriptions_come_from_the_folder(zoo: Path) -> None:
    found = {model.name: model.description for model in ModelCatalog(zoo, (), offline=True).models()}
    translator = found["zoo/translator"]
    assert translator is not None
    assert translator.label == "translator"
    assert translator.shape == "encoder-decoder"
    assert translator.tasks == {"translation": message("tasks.titles.translation", "Translation")}
    assert (translator.layers, translator.heads, translator.width, translator.max_tokens) == (2, 2, 16, 24)
    assert translator.decoder_layers == 2  # nothing else is said there
    assert translator.languages == ("en", "fr")
    assert translator.origin == "zoo"
    assert {name for name, each in found.items() if each and each.one_pair} == {"zoo/recurrent"}
    tasks = {
        name: next(iter(description.tasks)) for name, description in found.items() if description is not None
    }
    assert tasks == {
        "zoo/classifier": "classification",
        "zoo/decoder": "language_modelling",
        "zoo/encoder": "encoding",
        "zoo/endless": "language_modelling",
        "zoo/masked": "masked_language_modelling",
        "zoo/recurrent": "translation",
        "zoo/slow": "language_modelling",
        "zoo/theirs": "language_modelling",
        "zoo/translator": "translation",
    }
    assert {name for name, each in found.items() if each and each.decoder_layers} == {"zoo/translator"}
    endless = found["zoo/endless"]
    assert endless is not None
    assert endless.max_tokens is None


def test_the_layers_of_both_stacks_are_known() -> None:
    shipped = describe_model(ZOO / "translator", "zoo/translator", "zoo")
    assert shipped is not None
    assert (shipped.layers, shipped.decoder_layers) == (6, 3)


def test_shipped_models_are_listed_in_the_order_of_their_cards() -> None:
    models = [model.description for model in ModelCatalog(ZOO, (), offline=True).models()]
    assert [each.label for each in models if each] == [
        "translator", "gpt2", "bert", "albert", "sentiment",
        "recurrent", "rotary", "reviews", "recurrent-fixed",
        "digits", "captioner", "listener",
    ]  # fmt: skip
    assert [each.label for each in models if each and each.pivot_language] == ["translator"]
    assert all(
        each.note and each.note.code == f"workbench.note.{each.label.replace('-', '_')}"
        for each in models
        if each
    )


def test_a_card_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    for text in ("order = ", 'order = "last"', "note.code = 3", "note = 3", "head = -1"):
        (tmp_path / "card.toml").write_text(text)
        assert read_model_card(tmp_path) == ModelCard()


def test_parameters_are_counted_without_the_weights(zoo: Path) -> None:
    from glassformer.weights.checkpoint import open_checkpoint

    network = open_checkpoint(zoo / "decoder").network
    assert count_parameters(zoo / "decoder") == sum(each.numel() for each in network.parameters())


def test_a_folder_of_transformers_is_described(tmp_path: Path) -> None:
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=3, n_head=2)
    GPT2LMHeadModel(config).save_pretrained(tmp_path / "theirs")
    found = describe_model(tmp_path / "theirs", "mine/theirs", "folder")
    assert found is not None
    assert (found.family, found.shape) == ("gpt2", "decoder")
    assert set(found.tasks) == {"language_modelling", "generation"}
    assert (found.layers, found.heads, found.width) == (3, 2, 16)
    assert (found.vocabulary, found.max_tokens) == (50, 32)


def test_a_translator_of_one_pair_says_which(tmp_path: Path) -> None:
    settings = {"source_lang": "en", "target_lang": "de"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    assert find_languages(tmp_path) == ("en", "de")


@pytest.mark.parametrize(
    "header", [b"", b"\xff" * 8, (4).to_bytes(8, "little") + b"nope", b"\x02" + bytes(7)]
)
def test_weights_that_are_none_make_no_model(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    (tmp_path / "model.safetensors").write_bytes(header)
    assert describe_model(tmp_path, "x", "folder") is None


def test_pickles_make_no_model(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    (tmp_path / "pytorch_model.bin").write_bytes(b"x")
    assert describe_model(tmp_path, "x", "folder") is None


def test_an_unknown_key_of_a_card_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "card.toml").write_text("order = 5\nlanguage = 'en'\n")
    assert read_model_card(tmp_path).order == 5
    assert "unknown key 'language'. Did you mean 'languages'" in caplog.text


@pytest.mark.parametrize(
    ("settings", "reads"),
    [
        ({"image_processor_type": "ViTImageProcessor"}, "picture"),
        ({"feature_extractor_type": "ViTFeatureExtractor", "do_resize": True, "size": 224}, "picture"),
        ({"do_normalize": True, "image_mean": [0.5], "image_std": [0.5], "size": 224}, "picture"),
        ({"feature_extractor_type": "Wav2Vec2FeatureExtractor", "sampling_rate": 16_000}, "sound"),
        ({"do_normalize": True, "sampling_rate": 16_000, "feature_size": 1}, "sound"),
        ({"processor_class": "BertProcessor"}, "text"),
    ],
)
def test_what_a_model_reads_is_told_by_what_its_processor_does(
    tmp_path: Path, settings: dict[str, Any], reads: str
) -> None:
    """Not by its name: a feature extractor was a processor of pictures, too, and some files name nothing."""
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(settings))
    assert find_reads(tmp_path, {"model_type": "vit"}) == reads
    assert find_reads(tmp_path, {"model_type": "clip", "text_config": {}}) == "text"


def test_what_a_model_hears_is_as_long_as_its_sounds_not_its_texts(media_zoo: Path) -> None:
    for name in ("words", "listener"):
        described = describe_model(media_zoo / name, name, "folder")
        assert described is not None
        assert (described.reads, described.sample_rate, described.max_seconds) == ("sound", 8000, 2.0)
