"""Presets have the sizes that were published."""

import pytest
import torch
import transformers

from glassformer.errors import ConfigurationError
from glassformer.model.transformer import Transformer
from glassformer.weights.family import FAMILIES
from glassformer.weights.presets import PRESETS, preset


def count(network: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def family_of(name: str) -> str | None:
    return next(
        (family for family in FAMILIES if isinstance(FAMILIES[family].write_config(PRESETS[name]), dict)),
        None,
    )


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_as_large_as_theirs(name: str) -> None:
    family = family_of(name)
    with torch.device("meta"):
        ours = count(Transformer(preset(name)))
        if family is None:
            published = {"transformer-base": 63e6, "transformer-big": 214e6}[
                name
            ]  # table 3: 65 and 213 million
            assert abs(ours / published - 1) < 0.01
            return
        settings = FAMILIES[family].write_config(preset(name))
        assert isinstance(settings, dict)
        labels = {"num_labels": preset(name).classes} if preset(name).classes else {}
        config = transformers.AutoConfig.for_model(family, **settings, **labels)
        theirs = getattr(transformers, settings["architectures"][0])(config)
    own = config.vocab_size if family == "marian" else 0  # our bias is a parameter, theirs a buffer
    tables = 2 * config.max_position_embeddings * config.d_model if family == "marian" else 0  # frozen sines
    if family == "whisper":  # our biases of keys, which stay zero: one in the encoder's blocks, two above
        own = config.d_model * (config.encoder_layers + 2 * config.decoder_layers)
    assert ours - own == count(theirs) - tables


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("gpt2", transformers.GPT2Config()),
        ("bert-base-uncased", transformers.BertConfig()),
        ("albert-xxlarge-v2", transformers.AlbertConfig()),
        ("whisper-tiny", transformers.WhisperConfig()),
    ],
)
def test_what_transformers_calls_its_default_is_a_preset(
    name: str, config: transformers.PreTrainedConfig
) -> None:
    family = FAMILIES[config.model_type]
    architecture = next(iter(family.architectures))
    assert family.read_config({**config.to_dict(), "architectures": [architecture]}) == preset(name)


def test_an_unknown_preset_gets_the_nearest_name() -> None:
    with pytest.raises(ConfigurationError, match=r"'gpt-2'.*Did you mean 'gpt2'"):
        preset("gpt-2")
