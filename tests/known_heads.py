"""Networks whose heads are known by construction: their weights are set by hand."""

import numpy as np
import torch

from glassformer.config import ModelConfig
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from glassformer.model.transformer import Transformer
from glassformer.text.builders import build_words

NOUNS = [f"w{number}" for number in range(12)]
WORDS = build_words([*NOUNS, ",", "x"])
LENGTH = 56  # positions
WIDTH = WORDS.size + LENGTH  # of a head: it can compare tokens and positions at once
TOKENS, PLACES, BEFORE = 0, WORDS.size, WORDS.size + LENGTH  # where the residual stream keeps what
SHARP = 3.0

DECODER = (
    ("previous_token", "first_token", "same_token", "duplicate"),
    ("induction", "offset:-2", "delimiter", "window:±2"),
    ("sink", None, "offset:-3", "induction"),
)
ENCODER = (("next_token", "previous_token", "offset:+2", None),)


def build_blank(words: int, length: int, shape: str, head: str, layers: int) -> Transformer:
    """Four heads a layer, all zero but embeddings: tokens first, positions behind them."""
    size = words + length
    config = ModelConfig(
        vocabulary_size=words,
        shape=shape,
        layers=layers,
        width=4 * size,
        heads=4,
        feed_forward=1,
        max_length=length,
        positions="learned",
        norm_position="pre",
        scale_embeddings=False,
        dropout=0.0,
        head=head,
        start_id=2,
        end_id=3,
    )
    network = Transformer(config).eval()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "norm" not in name:
                parameter.zero_()
        network.embeddings.tokens.weight[:, :words] = torch.eye(words)
        network.embeddings.positions.weight[:, words:size] = torch.eye(length)
    return network


def build_known(shape: str = "decoder") -> tuple[LoadedModel, tuple[tuple[str | None, ...], ...]]:
    """A network, and the type of each head of each layer."""
    types = DECODER if shape == "decoder" else ENCODER
    head = "language" if shape == "decoder" else "masked"
    network = build_blank(WORDS.size, LENGTH, shape, head, len(types))
    with torch.no_grad():
        stack = getattr(network, shape)
        for layer, heads in enumerate(types):
            attention = stack.block(layer).attention
            for head, kind in enumerate(heads):
                _set_head(attention, head, kind)
    return load(network, WORDS), types


def _set_head(attention: torch.nn.Module, head: int, kind: str | None) -> None:
    """Queries and keys of one head: equal tokens, equal positions, or a fixed one."""
    width = 4 * WIDTH
    query = attention.qkv.weight[head * WIDTH : (head + 1) * WIDTH]
    key = attention.qkv.weight[width + head * WIDTH : width + (head + 1) * WIDTH]
    bias = attention.qkv.bias[head * WIDTH : (head + 1) * WIDTH]
    tokens, places = range(WORDS.size), range(WORDS.size, WIDTH)
    key[tokens, range(TOKENS, TOKENS + WORDS.size)] = 1.0
    key[places, range(PLACES, PLACES + LENGTH)] = 1.0
    look_at = {"delimiter": ",", "sink": "x"}
    offsets = {"previous_token": -1, "same_token": 0, "next_token": 1}
    if kind is None:
        key.zero_()
    elif kind in look_at:
        bias[WORDS.find(look_at[kind])] = 20 * SHARP
    elif kind == "first_token":
        bias[WORDS.size] = 20 * SHARP
    elif kind == "duplicate":
        query[tokens, range(TOKENS, TOKENS + WORDS.size)] = SHARP
        query[places, range(PLACES, PLACES + LENGTH)] = -2 * SHARP
    elif kind == "induction":
        query[tokens, range(TOKENS, TOKENS + WORDS.size)] = SHARP
        key.zero_()
        key[tokens, range(BEFORE, BEFORE + WORDS.size)] = 1.0
    else:
        near = range(-2, 1) if kind.startswith("window") else ()
        offset = offsets.get(kind)
        for each in near or (int(kind.partition(":")[2]) if offset is None else offset,):
            for place in range(max(0, -each), min(LENGTH, LENGTH - each)):
                query[WORDS.size + place + each, PLACES + place] = SHARP
    if kind == "previous_token":  # it writes down which token it saw
        value = attention.qkv.weight[2 * width + head * WIDTH : 2 * width + (head + 1) * WIDTH]
        value[tokens, range(TOKENS, TOKENS + WORDS.size)] = 0.1
        attention.output.weight[
            range(BEFORE, BEFORE + WORDS.size), head * WIDTH : head * WIDTH + WORDS.size
        ] = torch.eye(WORDS.size)


def write_texts(count: int, seed: int = 0) -> list[str]:
    """Random words, an x near the beginning and a comma somewhere behind it."""
    randomness = np.random.default_rng(seed)
    texts = []
    for _ in range(count):
        words = randomness.choice(NOUNS, randomness.integers(12, 20)).tolist()
        words.insert(int(randomness.integers(3, len(words))), ",")
        words.insert(int(randomness.integers(1, 3)), "x")
        texts.append(" ".join(words))
    return texts


def build_random(shape: str, seed: int, sharpness: float) -> LoadedModel:
    """A network that has learnt nothing; `sharpness` times the usual scores, so that it looks somewhere."""
    torch.manual_seed(seed)
    config = ModelConfig(
        vocabulary_size=WORDS.size,
        shape=shape,
        layers=3,
        width=32,
        heads=4,
        feed_forward=32,
        max_length=LENGTH,
        positions="learned",
        norm_position="pre",
        dropout=0.0,
        head="language" if shape == "decoder" else "masked",
        start_id=2,
        end_id=3,
    )
    network = Transformer(config).eval()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith("qkv.weight"):
                parameter.mul_(sharpness)
    return load(network, WORDS)
