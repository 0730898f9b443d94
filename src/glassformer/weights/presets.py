"""Configurations that people know by name: the published sizes of GPT-2, BERT, ALBERT, the paper and Marian.

In:   a name such as "gpt2-medium".
Out:  a `ModelConfig`: the shape of that network, without its weights.
"""

from dataclasses import replace

from glassformer.config import ModelConfig
from glassformer.errors import ConfigurationError
from glassformer.registry import suggestion

GPT2 = ModelConfig(
    vocabulary_size=50257,
    shape="decoder",
    layers=12,
    width=768,
    heads=12,
    feed_forward=3072,
    max_length=1024,
    positions="learned",
    activation="gelu-tanh",
    norm_position="pre",
    scale_embeddings=False,
    attention_dropout=0.1,
    padding_id=50256,
    start_id=50256,
    end_id=50256,
)
BERT = ModelConfig(
    vocabulary_size=30522,
    shape="encoder",
    layers=12,
    width=768,
    heads=12,
    feed_forward=3072,
    max_length=512,
    segments=2,
    positions="learned",
    activation="gelu",
    norm_epsilon=1e-12,
    embedding_norm=True,
    scale_embeddings=False,
    head="masked",
    output_bias=True,
    attention_dropout=0.1,
)
ALBERT = replace(
    BERT,
    vocabulary_size=30000,
    embedding_width=128,
    activation="gelu-tanh",
    share_layers=True,
    dropout=0.0,
    attention_dropout=0.0,
    start_id=2,
    end_id=3,
)
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
    "albert-base-v2": ALBERT,
    "albert-large-v2": replace(ALBERT, layers=24, width=1024, heads=16, feed_forward=4096),
    "albert-xlarge-v2": replace(ALBERT, layers=24, width=2048, heads=16, feed_forward=8192),
    "albert-xxlarge-v2": replace(ALBERT, layers=12, width=4096, heads=64, feed_forward=16384),
    "transformer-base": PAPER,
    "transformer-big": replace(PAPER, width=1024, heads=16, feed_forward=4096, dropout=0.3),
    "marian": MARIAN,
}


def preset(name: str) -> ModelConfig:
    """The configuration of a published size; change it with `dataclasses.replace`."""
    if name not in PRESETS:
        raise ConfigurationError("weights.unknown_preset", name=name, suggestion=suggestion(name, PRESETS))
    return PRESETS[name]
