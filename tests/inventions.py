"""Recordings made up for tests: small, deterministic, NumPy only, with everything that a page can show."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glassformer import bundle
from glassformer.place import Kind, Place
from glassformer.recording import (
    Alternative,
    AttentionMap,
    Evidence,
    Factors,
    Generation,
    Output,
    Picture,
    Pyramid,
    Recording,
    Sound,
    SpokenWord,
    Step,
    Tokens,
    measure,
    pool_max,
    pool_mean,
)
from glassformer.recording.tiles import PYRAMID_LEVEL

WORDS = ("The", " animal", " didn't", " cross", "\n", " 街道", " שלום", "‹E6›", " <b>bold</b>", ",", " tired")


@dataclass
class Heads:
    """Queries, keys and values of one layer, and what follows from them."""

    queries: np.ndarray  # (head, query, width)
    keys: np.ndarray  # (head, key, width)
    values: np.ndarray
    scores: np.ndarray  # (head, query, key)
    weights: np.ndarray


def invent_heads(heads: int, queries: int, keys: int, *, causal: bool, seed: int, width: int = 8) -> Heads:
    random = np.random.default_rng(seed)
    q, k, v = (
        random.normal(size=(heads, count, width)).astype(np.float32) for count in (queries, keys, keys)
    )
    scores = (q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1)) / np.sqrt(width) * 2
    if causal:
        scores = np.where(np.arange(keys) <= np.arange(queries)[:, None], scores, -np.inf)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return Heads(q, k, v, scores.astype(np.float32), weights.astype(np.float32))


def invent_map(
    stack: str, layer: int, kind: Kind, query: Tokens, key: Tokens, heads: int, *, causal: bool = False
) -> AttentionMap:
    made = invent_heads(heads, len(query), len(key), causal=causal, seed=layer + 10 * (kind == "cross"))
    return AttentionMap(
        place=Place(stack, kind, layer),
        query=query,
        key=key,
        statistics=measure(made.weights, np.isfinite(made.scores)),
        dense=made.weights,
        dense_scores=made.scores,
        queries=made.queries,
        keys=made.keys,
        values=made.values,
        scale=float(2 / np.sqrt(8)),
    )


def invent_tokens(side: str, count: int) -> Tokens:
    texts = tuple(WORDS[place % len(WORDS)] for place in range(count))
    ends = np.cumsum([len(text) for text in texts])
    offsets = np.stack([ends - [len(text) for text in texts], ends], axis=1)
    special = np.zeros(count, dtype=bool)
    special[-1] = count > 1
    return Tokens(
        side,  # type: ignore[arg-type]
        texts,
        np.arange(count) % len(WORDS),
        offsets,
        "".join(texts),
        special,
        np.arange(count) // 2,
    )


def invent_evidence(**words: Any) -> Evidence:
    return Evidence("invented", "0123456789abcdef", "eager", "float32", True, 1e-7, "eager", **words)


def invent_decoder(tokens: int = 24, layers: int = 3, heads: int = 4, width: int = 16) -> Recording:
    """A decoder with hidden states, output and a greedy generation of its last three tokens."""
    side = invent_tokens("source", tokens)
    random = np.random.default_rng(7)
    hidden = random.normal(size=(layers + 1, tokens, width)).astype(np.float32)
    chances = np.log(np.tile([0.5, 0.3, 0.2], (tokens, 1))).astype(np.float32)
    ids = (np.arange(tokens)[:, None] + np.arange(3)) % len(WORDS)
    others = tuple(Alternative(place, WORDS[place], -1.5 - place) for place in range(3))
    steps = tuple(Step(place, place, WORDS[place], -0.5, others) for place in range(min(3, tokens)))
    return Recording(
        model="invented decoder",
        evidence=invent_evidence(),
        source=side,
        maps=tuple(
            invent_map("decoder", layer, "self", side, side, heads, causal=True) for layer in range(layers)
        ),
        hidden={"decoder": hidden},
        output=Output("decoder", ids, chances, dict(enumerate(WORDS))),
        generation=Generation(steps),
    )


def invent_translation(source: int = 6, target: int = 9, layers: int = 2, heads: int = 3) -> Recording:
    """An encoder-decoder with a beam search."""
    left, right = invent_tokens("source", source), invent_tokens("target", target)
    random = np.random.default_rng(8)
    maps = []
    for layer in range(layers):
        maps.append(invent_map("encoder", layer, "self", left, left, heads))
        maps.append(invent_map("decoder", layer, "self", right, right, heads, causal=True))
        maps.append(invent_map("decoder", layer, "cross", right, left, heads))
    nodes = (
        Step(0, 1, WORDS[1], -0.2, beam=0, score=-0.2),
        Step(0, 2, WORDS[2], -1.2, beam=1, score=-1.2),
        Step(1, 3, WORDS[3], -0.3, beam=0, parent=0, score=-0.5),
        Step(1, 4, WORDS[4], -1.0, beam=1, parent=0, score=-1.2),
    )
    steps = (Step(0, 1, WORDS[1], -0.2), Step(1, 3, WORDS[3], -0.3))
    return Recording(
        model="invented translator",
        evidence=invent_evidence(),
        source=left,
        target=right,
        maps=tuple(maps),
        hidden={
            "encoder": random.normal(size=(layers + 1, source, 16)).astype(np.float32),
            "decoder": random.normal(size=(layers + 1, target, 16)).astype(np.float32),
        },
        generation=Generation(steps, nodes, "beam"),
    )


def invent_long(tokens: int = 3000, heads: int = 2, width: int = 8) -> Recording:
    """A causal map that is kept as queries and keys, with a pyramid of its first head."""
    side = invent_tokens("source", tokens)
    made = invent_heads(heads, tokens, tokens, causal=True, seed=3, width=width)
    exact = made.scores.astype(np.float64)
    top = exact.max(axis=-1)
    total = np.log(np.exp(exact - top[..., None]).sum(axis=-1)) + top
    factors = Factors(made.queries, made.keys, total, float(2 / np.sqrt(width)), causal=True)
    statistics = measure(made.weights, np.isfinite(made.scores), log_sum_exp=total)
    first = made.weights[0]
    pyramids = {0: Pyramid(PYRAMID_LEVEL, pool_mean(first, PYRAMID_LEVEL), pool_max(first, PYRAMID_LEVEL))}
    place = Place("decoder", "self", 0)
    whole = AttentionMap(place, side, side, statistics, factors=factors, pyramids=pyramids)
    return Recording(model="invented reader", evidence=invent_evidence(), source=side, maps=(whole,))


def invent_captioner(heads: int = 3) -> Recording:
    """A picture of 3 x 5 patches behind a class token, and a caption of four words."""
    rows, columns = 3, 5
    texts = ("[CLS]", *(f"{row},{column}" for row in range(rows) for column in range(columns)))
    pixels = np.random.default_rng(5).integers(0, 256, (60, 100, 3), dtype=np.uint8)
    left = Tokens(
        "source",
        texts,
        np.arange(len(texts)),
        special=np.arange(len(texts)) == 0,
        picture=Picture(pixels, rows, columns, np.arange(len(texts)) - 1),
    )
    right = Tokens("target", ("<s>", " a", " red", " car"), np.arange(4), special=np.arange(4) == 0)
    maps = [invent_map("encoder", layer, "self", left, left, heads) for layer in range(2)]
    maps.append(invent_map("decoder", 0, "self", right, right, heads, causal=True))
    maps.append(invent_map("decoder", 0, "cross", right, left, heads))
    return Recording(
        model="invented captioner", evidence=invent_evidence(), source=left, target=right, maps=tuple(maps)
    )


def invent_tower(heads: int = 2) -> Recording:
    """A vision tower that looks at 3 x 5 patches behind a class token, and a text of its own length."""
    patches = invent_captioner().source
    text = invent_tokens("source", len(patches))
    maps = [invent_map("vision", layer, "self", patches, patches, heads) for layer in range(2)]
    maps.append(invent_map("language", 0, "self", text, text, heads, causal=True))
    return Recording(model="invented", evidence=invent_evidence(), source=text, maps=tuple(maps))


def invent_listener(heads: int = 2) -> Recording:
    """A second of two tones in 20 frames, and the two words that are heard, 0.1 to 0.4 and 0.6 to 0.9."""
    frames, rate = 20, 8000
    edges = np.linspace(0, 1, frames + 1)
    spans = np.stack([edges[:-1], edges[1:]], axis=1)
    time = np.arange(rate) / rate
    loud = ((time > 0.1) & (time < 0.4)) | ((time > 0.6) & (time < 0.9))
    samples = (9000 * loud * np.sin(2 * np.pi * np.where(time < 0.5, 400, 1200) * time)).astype(np.int16)
    words = (SpokenWord("two", 0.1, 0.4), SpokenWord("six", 0.6, 0.9))
    left = Tokens(
        "source",
        tuple(f"{middle:.3f}" for middle in spans.mean(axis=1)),
        np.arange(frames),
        sound=Sound(samples, rate, spans, words),
    )
    right = Tokens("target", ("<s>", " two", " six"), np.arange(3), special=np.arange(3) == 0)
    maps = (
        invent_map("encoder", 0, "self", left, left, heads),
        invent_map("decoder", 0, "self", right, right, heads, causal=True),
        invent_map("decoder", 0, "cross", right, left, heads),
    )
    return Recording(
        model="invented listener", evidence=invent_evidence(), source=left, target=right, maps=maps
    )


def save_invented(folder: Path) -> None:
    """Bundles: decoder (3 x 4 heads, 24 tokens), single (one token), wide (12 x 12 heads, 128 tokens),
    translation (6 and 9 tokens, beams) and long (3,000 tokens)."""
    bundle.save(invent_decoder(), folder / "decoder.bundle")
    bundle.save(invent_decoder(tokens=1, layers=1), folder / "single.bundle")
    bundle.save(invent_decoder(tokens=128, layers=12, heads=12), folder / "wide.bundle")
    bundle.save(invent_translation(), folder / "translation.bundle")
    bundle.save(invent_long(), folder / "long.bundle")
