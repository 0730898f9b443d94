"""Attention maps made of numbers that a test wrote down, backed in every way a map can be."""

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassformer.place import Place
from glassformer.recording import AttentionMap, Evidence, Factors, Recording, Tokens, measure


def make_tokens(side: str, texts: Sequence[str], ids: Sequence[int] | None = None, **more: Any) -> Tokens:
    """Tokens with an id for each different text."""
    known = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    return Tokens(
        side, tuple(texts), np.array([known[text] for text in texts] if ids is None else ids), **more
    )


def build_map(
    weights: Any,
    backing: str = "dense",
    allowed: Any = None,
    rows: Any = None,
    sink: Any = None,
    offset: int = 0,
    threshold: float = 0.01,
    factors: dict[str, Any] | None = None,
    **more: Any,
) -> AttentionMap:
    """A map of these weights (head, query, key); as factors, its logarithms are the bias."""
    dense = np.asarray(weights, dtype=np.float64)
    heads, queries, keys = dense.shape
    sink_weights = None if sink is None else np.asarray(sink, dtype=np.float32)
    statistics = measure(
        dense.astype(np.float32), allowed, rows, sink_weights=sink_weights, offset=offset, threshold=threshold
    )
    kind = more.get("kind", "self")
    address = {name: more.pop(name) for name in Place._fields if name in more}
    parts: dict[str, Any] = {
        "place": Place("encoder" if kind == "self" else "decoder", kind, 0)._replace(**address),
        "query": Tokens.positional("source" if kind == "self" else "target", queries),
        "key": Tokens.positional("source", keys),
        "statistics": statistics,
        "sink_weights": sink_weights,
    }
    if backing == "dense":
        parts["dense"] = dense.astype(np.float32)
    elif backing == "factors":
        with np.errstate(divide="ignore"):
            bias = np.log(dense).astype(np.float32)
        width = np.zeros((heads, queries, 2), dtype=np.float32)
        parts["factors"] = Factors(
            width, width[:, :1].repeat(keys, 1), np.zeros((heads, queries)), 1.0,
            bias=bias, offset=offset, **(factors or {}),
        )  # fmt: skip
    return AttentionMap(**(parts | more))


def build_recording(*maps: AttentionMap, edits: tuple[str, ...] = ()) -> Recording:
    """A recording of these maps; its sides are the tokens of their axes."""
    evidence = Evidence("tiny", "0123456789abcdef", "eager", "float32", True, 0.0, "eager", edits)
    sides = {tokens.side: tokens for each in maps for tokens in (each.key, each.query)}
    source = sides.get("source", Tokens.positional("source", 1))
    return Recording("tiny", evidence, source, sides.get("target"), maps)


def draw_weights(seed: int, shape: tuple[int, int, int], causal: bool = False, sharpness: float = 3.0) -> Any:
    """Random rows that sum to one (head, query, key), and which keys are allowed."""
    random = np.random.default_rng(seed)
    _, queries, keys = shape
    allowed = np.ones((queries, keys), dtype=bool)
    if causal:
        allowed = np.tri(queries, keys, keys - queries, dtype=bool)
    scores = np.where(allowed, sharpness * random.normal(size=shape), -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True), allowed


@pytest.fixture(scope="session")
def make_map() -> Callable[..., AttentionMap]:
    return build_map


@pytest.fixture(scope="session")
def record() -> Callable[..., Recording]:
    return build_recording


@pytest.fixture(scope="session")
def tokens() -> Callable[..., Tokens]:
    return make_tokens


@pytest.fixture(scope="session")
def draw() -> Callable[..., Any]:
    return draw_weights


@pytest.fixture
def write_page() -> Callable[[str], str]:
    """What docs/make_metrics.py makes of the page."""
    path = Path(__file__).parents[2] / "docs" / "make_metrics.py"
    spec = importlib.util.spec_from_file_location("make_metrics", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.write_page
