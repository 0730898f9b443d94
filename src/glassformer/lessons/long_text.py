"""A long text for a small model with rotary positions, so that anyone can see a long recording.

In:   a number of tokens.
Out:  a model and that many tokens for it to read. The zoo's rotary model where it is there; otherwise one
      with random weights, whose heads look for letters like their own.
"""

from random import Random

import torch

from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.lessons.demo_translator import invent_pair
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.native import NativeModel, open_native
from glassformer.model.attention import SelfAttention
from glassformer.model.transformer import Transformer
from glassformer.text.builders import build_bytes
from glassformer.weights.hub import ZOO

MOST_TOKENS = 1_000_000
LAYERS, HEADS, WIDTH = 2, 4, 128  # of the random model
CONTRAST = 2.0  # factor of queries and keys: otherwise the attention of a random head is almost uniform


def open_rotary() -> LoadedModel:
    """The model to be recorded.

    >>> gf.open_rotary().limit is None  # texts of any length
    True
    """
    if (ZOO / "rotary" / "config.json").is_file():
        return open_native(ZOO / "rotary", "zoo/rotary")
    tokenizer = build_bytes(end=False)
    config = ModelConfig(
        vocabulary_size=tokenizer.size,
        shape="decoder",
        layers=LAYERS,
        width=WIDTH,
        heads=HEADS,
        positions="rotary",
        dropout=0.0,
        padding_id=tokenizer.roles["padding"],
        end_id=tokenizer.roles["end"],
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = Transformer(config).eval()
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, SelfAttention) and module.qkv is not None:
                queries, keys, _ = module.qkv.weight.chunk(3)
                keys.copy_(queries.mul_(CONTRAST))
    return NativeModel(network, tokenizer, name="random rotary model")


def invent_text(model: LoadedModel, tokens: int) -> str | tuple[int, ...]:
    """Made-up sentences of so many tokens: a text where the tokenizer splits it the same way, else ids.

    >>> gf.invent_text(gf.open_rotary(), 12)
    'The red boy sees the red horse. The green boy'
    """
    if not 1 <= tokens <= MOST_TOKENS:
        raise InputError("lessons.long_text.bad_length", tokens=tokens, most=MOST_TOKENS)
    tokenizer = model.require_tokenizer()
    random, sentences, known = Random(0), [], 0
    while known <= tokens:
        more = [invent_pair(random)[0].capitalize() + "." for _ in range(1000)]
        sentences += more
        known += len(tokenizer.encode(" ".join(more), special=False).ids)
    ids = tokenizer.encode(" ".join(sentences), special=False).ids[:tokens]
    text = tokenizer.decode(ids)
    return text if tokenizer.encode(text).ids == ids else ids
