"""Small attention of every kind, as a dense map in float64 and as factors."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from glassformer.place import Place
from glassformer.recording import AttentionMap, Evidence, Factors, HeadStatistics, Tokens, measure

# What makes each kind of attention special; the numbers suit any length.
KINDS: dict[str, dict[str, Any]] = {
    "full": {},
    "causal": {"causal": True},
    "padded": {"key_mask": True},
    "windowed": {"causal": True, "window": 9},
    "windowed both ways": {"window": 5},
    "biased": {"bias": True},
    "relative": {"distance_bias": True},
    "soft-capped": {"softcap": 2.0, "causal": True},
    "sink": {"sink": True, "causal": True},
    "grouped": {"key_heads": 2},
    "cached": {"causal": True, "offset": 7},
    "everything": {
        "causal": True, "window": 40, "key_mask": True, "bias": True, "distance_bias": True,
        "softcap": 5.0, "sink": True, "key_heads": 1, "offset": 3,
    },
}  # fmt: skip


@dataclass
class Example:
    """The same attention twice: `weights` from a plain float64 softmax, and `factors`."""

    weights: np.ndarray  # (head, query, key)
    scores: np.ndarray  # (head, query, key)
    allowed: np.ndarray  # (query, key)
    sink_weights: np.ndarray | None  # (head, query)
    log_sum_exp: np.ndarray  # (head, query)
    factors: Factors
    statistics: HeadStatistics

    def map(self, backing: str, **changes: Any) -> AttentionMap:
        _, queries, keys = self.weights.shape
        place = Place("decoder", "self" if queries == keys else "cross", 0)
        parts: dict[str, Any] = {
            "place": place._replace(**{name: changes.pop(name) for name in Place._fields if name in changes}),
            "query": Tokens.positional("target", queries),
            "key": Tokens.positional("source", keys),
            "statistics": self.statistics,
            "sink_weights": self.sink_weights,
        }
        if backing == "dense":
            parts["dense"] = self.weights.astype(np.float32)
        elif backing == "factors":
            parts["factors"] = self.factors
        return AttentionMap(**(parts | changes))


@cache
def make_example(
    kind: str = "causal", queries: int = 24, keys: int = 24, heads: int = 4, width: int = 8, seed: int = 0
) -> Example:
    random = np.random.default_rng(seed)
    features = KINDS[kind]
    key_heads = features.get("key_heads", heads)
    q = random.normal(size=(heads, queries, width)).astype(np.float32)
    k = random.normal(size=(key_heads, keys, width)).astype(np.float32)
    offset, window, softcap = features.get("offset", 0), features.get("window"), features.get("softcap")
    bias = random.normal(size=(1, queries, keys)).astype(np.float32) if "bias" in features else None
    table = None
    if "distance_bias" in features:
        table = random.normal(size=(heads, queries + keys - 1)).astype(np.float32)
    sink = random.normal(size=heads).astype(np.float32) if "sink" in features else None
    key_mask = None
    if "key_mask" in features:
        key_mask = np.arange(keys) < max(1, keys - 3)

    # Plain loops over the definition, nothing shared with the code under test.
    scores = np.empty((heads, queries, keys))
    allowed = np.ones((queries, keys), dtype=bool)
    for h in range(heads):
        for i in range(queries):
            for j in range(keys):
                score = float(q[h, i].astype(np.float64) @ k[h // (heads // key_heads), j]) * 0.5
                if softcap is not None:
                    score = softcap * np.tanh(score / softcap)
                if bias is not None:
                    score += bias[0, i, j]
                if table is not None:
                    score += table[h, j - i + queries - 1]
                hidden = (
                    (features.get("causal") and j > i + offset)
                    or (window is not None and abs(i + offset - j) >= window)
                    or (key_mask is not None and not key_mask[j])
                )
                allowed[i, j] = not hidden
                scores[h, i, j] = -np.inf if hidden else score
    columns = scores if sink is None else np.concatenate(
        [scores, np.broadcast_to(sink[:, None, None], (heads, queries, 1))], axis=-1
    )  # fmt: skip
    top = columns.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    exponentials = np.exp(columns - top)
    total = exponentials.sum(axis=-1, keepdims=True)
    full = np.divide(exponentials, total, out=np.zeros_like(exponentials), where=total > 0)
    with np.errstate(divide="ignore"):
        log_sum_exp = (top + np.log(total))[..., 0]
    weights = full[..., :keys]
    sink_weights = None if sink is None else full[..., keys].astype(np.float32)
    factors = Factors(
        q, k, log_sum_exp, 0.5, bias=bias, distance_bias=table, causal=bool(features.get("causal")),
        window=window, offset=offset, key_mask=key_mask, softcap=softcap, sink=sink,
    )  # fmt: skip
    statistics = measure(weights, allowed, log_sum_exp=log_sum_exp, sink_weights=sink_weights, offset=offset)
    return Example(weights, scores, allowed, sink_weights, log_sum_exp, factors, statistics)


@pytest.fixture(scope="session")
def make() -> Callable[..., Example]:
    return make_example


@pytest.fixture(params=sorted(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def evidence() -> Evidence:
    return Evidence("tiny", "0123456789abcdef", "eager", "float32", True, 0.0, "eager")
