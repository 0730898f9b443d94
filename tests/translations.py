"""A small translation, as it is drawn in a terminal."""

import numpy as np
from numpy.typing import NDArray

from glassformer.place import Place
from glassformer.recording import AttentionMap, Evidence, Output, Recording, Tokens
from glassformer.recording import measure as measure_statistics

WORDS = {1: " too", 2: "\n", 3: " never"}


EVIDENCE = Evidence(model="toy", model_hash="0" * 12, kernel="explicit", dtype="float32", exact=True)


def tokens(side: str, texts: list[str]) -> Tokens:
    return Tokens(side, tuple(texts), np.arange(len(texts)))


def attention_map(
    weights: NDArray[np.float32], query: Tokens, key: Tokens, *, dense: bool = True
) -> AttentionMap:
    kind = "self" if query is key else "cross"
    statistics = measure_statistics(weights, allowed=weights > 0)
    return AttentionMap(Place("decoder", kind, 0), query, key, statistics, dense=weights if dense else None)


def translation() -> Recording:
    """I love you, from 我爱你: a blurred and a sharp head of cross-attention, and self-attention."""
    source, target = tokens("source", ["我", "爱", "你"]), tokens("target", ["I", " love", " you"])
    even = np.full((3, 3), 1 / 3, dtype=np.float32)
    sharp = np.array([[0.9, 0.1, 0], [0, 1, 0], [0.5, 0, 0.5]], dtype=np.float32)
    maps = (
        attention_map(np.eye(3, dtype=np.float32)[None], target, target),
        attention_map(np.stack([even, sharp]), target, source),
    )
    output = Output("decoder", np.array([[1, 2, 3]] * 3), np.log([[0.75, 0.249, 0.001]] * 3), WORDS)
    return Recording("toy", EVIDENCE, source, target, maps, output=output)
