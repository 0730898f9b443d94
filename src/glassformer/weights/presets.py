"""Configurations that people know by name: published sizes of GPT-2, BERT, ALBERT, ViT, Whisper and others.

In:   a name such as "gpt2-medium".
Out:  a `ModelConfig`: the shape of that network, without its weights.
"""

from dataclasses import replace

from glassformer.config import ModelConfig
from glassformer.errors import ConfigurationError
from glassformer.registry import suggestion
from glassformer.weights import albert, bert, gpt2, vit, whisper

# The defaults of their families.
GPT2 = gpt2.read_config({"architectures": ["GPT2LMHeadModel"]})
BERT = bert.read_config({"architectures": ["BertForMaskedLM"]})
ALBERT = albert.read_config({"architectures": ["AlbertForMaskedLM"]})  # the largest one
VIT = replace(vit.read_config({"architectures": ["ViTForImageClassification"]}), classes=1000)  # of ImageNet
WHISPER = whisper.read_config({"architectures": ["WhisperForConditionalGeneration"]})  # the smallest one
PAPER = ModelConfig(vocabulary_size=37000)  # table 3 of "Attention Is All You Need", shared byte pairs
MARIAN = ModelConfig(
    vocabulary_size=58101,
    decoder_layers=6,
    positions="sinusoidal-halves",
    activation="silu",
    output_bias=True,
    padding_id=58100,
    start_id=58100,
    end_id=0,
)

PRESETS: dict[str, ModelConfig] = {
    "gpt2": GPT2,
    "gpt2-medium": replace(GPT2, layers=24, width=1024, heads=16, feed_forward=4096),
    "gpt2-large": replace(GPT2, layers=36, width=1280, heads=20, feed_forward=5120),
    "gpt2-xl": replace(GPT2, layers=48, width=1600, heads=25, feed_forward=6400),
    "bert-base-uncased": BERT,
    "bert-large-uncased": replace(BERT, layers=24, width=1024, heads=16, feed_forward=4096),
    "albert-base-v2": replace(ALBERT, width=768, heads=12, feed_forward=3072),
    "albert-large-v2": replace(ALBERT, layers=24, width=1024, heads=16, feed_forward=4096),
    "albert-xlarge-v2": replace(ALBERT, layers=24, width=2048, heads=16, feed_forward=8192),
    "albert-xxlarge-v2": ALBERT,
    "vit-base-patch16-224": VIT,
    "vit-base-patch32-224": replace(VIT, patch_size=32),
    "vit-large-patch16-224": replace(VIT, layers=24, width=1024, heads=16, feed_forward=4096),
    "whisper-tiny": WHISPER,
    "whisper-base": replace(WHISPER, layers=6, decoder_layers=6, width=512, heads=8, feed_forward=2048),
    "whisper-small": replace(WHISPER, layers=12, decoder_layers=12, width=768, heads=12, feed_forward=3072),
    "transformer-base": PAPER,
    "transformer-big": replace(PAPER, width=1024, heads=16, feed_forward=4096, dropout=0.3),
    "marian": MARIAN,
}


def preset(name: str) -> ModelConfig:
    """The configuration of a published size; change it with `dataclasses.replace`."""
    if name not in PRESETS:
        raise ConfigurationError("weights.unknown_preset", name=name, suggestion=suggestion(name, PRESETS))
    return PRESETS[name]
