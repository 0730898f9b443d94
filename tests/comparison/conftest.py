"""Small recordings of given words, with random attention."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from glassformer.place import Place
from glassformer.recording import AttentionMap, Evidence, Recording, Tokens, measure


def make_tokens(pieces: Sequence[str], side: str = "source") -> Tokens:
    """Tokens of a text; a piece that begins with ## goes on with the word before it, [CLS] is special."""
    text, offsets, words = "", [], []
    for piece in pieces:
        special = piece.startswith("[")
        written = piece.removeprefix("##")
        if not special and not piece.startswith("##") and text:
            text += " "
        start = len(text)
        text += "" if special else written
        offsets.append((start, len(text)))
        words.append(-1 if special else max(words, default=-1) + (0 if piece.startswith("##") else 1))
    ids = np.array([sum(map(ord, piece)) for piece in pieces])
    special = np.array([piece.startswith("[") for piece in pieces], dtype=bool)
    return Tokens(side, tuple(pieces), ids, np.array(offsets), text, special, np.array(words))


def make_recording(
    pieces: Sequence[str],
    seed: int = 0,
    layers: int = 2,
    heads: int = 3,
    model: str = "tiny",
    causal: bool = False,
) -> Recording:
    """A recording of these tokens with random weights."""
    random = np.random.default_rng(seed)
    tokens = make_tokens(pieces)
    count = len(pieces)
    allowed = np.tri(count, dtype=bool) if causal else np.ones((count, count), dtype=bool)
    maps = []
    for layer in range(layers):
        scores = np.where(allowed, 3 * random.normal(size=(heads, count, count)), -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)
        maps.append(
            AttentionMap(Place("encoder", "self", layer), tokens, tokens, measure(weights, allowed), weights)
        )
    states = random.normal(size=(layers + 1, count, 4)).astype(np.float32)
    evidence = Evidence(model, "0123456789abcdef", "eager", "float32", True, 1e-7, "eager")
    return Recording(model, evidence, tokens, None, tuple(maps), {"encoder": states})


@pytest.fixture(scope="session")
def recorded() -> Callable[..., Any]:
    return make_recording


@pytest.fixture(scope="session")
def tokens_of() -> Callable[..., Tokens]:
    return make_tokens
