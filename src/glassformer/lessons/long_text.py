"""A long text for a small model with rotary positions, so that anyone can see a long recording.

In:   a number of tokens.
Out:  the zoo's rotary model, and that many tokens for it to read.
"""

from random import Random

from glassformer.errors import InputError
from glassformer.lessons.demo_translator import invent_pair
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.native import open_native
from glassformer.weights.hub import ZOO

MOST_TOKENS = 1_000_000


def open_rotary() -> LoadedModel:
    """The shipped model with rotary positions.

    >>> gf.open_rotary().limit is None  # texts of any length
    True
    """
    return open_native(ZOO / "rotary", "zoo/rotary")


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
