"""Attention of every kind with its statistics in float64."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from glassformer.recorders.statistics.measure import Measured, attend_and_measure
from glassformer.recorders.statistics.raw import Wanted
from glassformer.recorders.statistics.scoring import Scoring
from glassformer.recording import (
    HeadStatistics,
    measure,
)
from glassformer.rounding import rounding

HEADS, WIDTH = 6, 16


NEVER = float("-inf")


@dataclass
class Example:
    """One attention, and what a softmax in float64 makes of it."""

    queries: Tensor
    keys: Tensor
    values: Tensor
    scoring: Scoring
    rows: Tensor | None
    weights: np.ndarray  # (head, query, key) float64
    output: np.ndarray  # (head, query, width) float64
    statistics: HeadStatistics
    largest: float  # of the scores

    @property
    def rounding(self) -> float:
        """How far weights may be off: scores are sums over the width of a head."""
        return rounding(operations=1, summands=WIDTH, scores=self.largest)

    def measure(self, **options: Any) -> Measured:
        wanted = Wanted(self.rows, **options)
        return attend_and_measure(self.queries, self.keys, self.values, self.scoring, wanted)


KINDS: dict[str, dict[str, Any]] = {
    "full": {},
    "causal": {"causal": True},
    "padded": {"key_mask": True, "rows": True},
    "causal, padded on the left": {"causal": True, "key_mask": True, "rows": True, "left": True},
    "windowed": {"causal": True, "window": 40},
    "windowed both ways": {"window": 9},
    "cross": {"keys": 37},
    "cross with many keys": {"keys": 333},
    "cached": {"causal": True, "keys": 150, "offset": 50},
    "one query": {"queries": 1, "keys": 130, "causal": True, "offset": 129},
    "biased": {"bias": (HEADS, 0, 0)},
    "one bias for all heads": {"bias": (1, 0, 0)},
    "a bias for keys": {"bias": (1, 1, 0)},
    "masked by bias": {"bias": (1, 0, 0), "masked": NEVER},
    "masked by a finite bias": {"bias": (HEADS, 0, 0), "masked": float(torch.finfo(torch.float32).min)},
    "relative": {"distance_bias": True},
    "soft-capped": {"causal": True, "softcap": 2.0},
    "sink": {"causal": True, "sink": True},
    "strong sink": {"causal": True, "sink": 90.0},
    "grouped": {"causal": True, "key_heads": 2},
    "one key head": {"key_heads": 1},
    "sharp": {"causal": True, "sharpness": 12.0},
    "everything": {
        "causal": True, "window": 40, "key_mask": True, "bias": (1, 0, 0), "distance_bias": True,
        "softcap": 5.0, "sink": True, "key_heads": 3, "offset": 3, "keys": 190, "rows": True,
    },
    "some rows see nothing": {"window": 5, "queries": 300, "keys": 90},
    "some rows see the sink alone": {"window": 5, "queries": 300, "keys": 90, "sink": True},
}  # fmt: skip


def make_example(kind: str, length: int = 100, seed: int = 0, dtype: torch.dtype = torch.float32) -> Example:
    """Random queries and keys, rounded to a precision; the rest by the definition."""
    features = KINDS[kind]
    queries, keys = features.get("queries", length), features.get("keys", length)
    chance = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=chance)

    def rounded(*shape: int) -> Tensor:
        return draw(*shape).to(dtype).float()

    q = (rounded(HEADS, queries, WIDTH) * features.get("sharpness", 1.5)).to(dtype).float()
    k, v = (rounded(features.get("key_heads", HEADS), keys, WIDTH) for _ in range(2))
    real = torch.arange(keys) >= 11 if features.get("left") else torch.arange(keys) < keys - 11
    bias = None
    if "bias" in features:
        bias = draw(
            *(given or full for given, full in zip(features["bias"], (HEADS, queries, keys), strict=True))
        )
        if "masked" in features:
            bias[:, torch.rand(bias.shape[1:], generator=chance) < 0.3] = features["masked"]
            bias[:, :, 0] = 0  # every row keeps a key
    sink = features.get("sink")
    scoring = Scoring(
        scale=0.25,
        causal=features.get("causal", False),
        window=features.get("window"),
        offset=features.get("offset", 0),
        key_mask=real if "key_mask" in features else None,
        bias=bias,
        distance_bias=draw(HEADS, queries + keys - 1) if "distance_bias" in features else None,
        softcap=features.get("softcap"),
        sink=None if sink is None else draw(HEADS) + (0 if sink is True else sink),
    )
    rows = None if "rows" not in features else torch.arange(queries) % 7 != 3
    scores = score(q, k, scoring)
    lowest = float(np.float32(torch.finfo(torch.float32).min)) / 2
    allowed = scores > lowest
    scores = np.where(allowed, scores, NEVER)
    columns = scores
    if scoring.sink is not None:
        extra = np.broadcast_to(scoring.sink.double().numpy()[:, None, None], (HEADS, queries, 1))
        columns = np.concatenate([scores, extra], axis=-1)
    top = columns.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    exponentials = np.exp(columns - top)
    total = exponentials.sum(axis=-1, keepdims=True)
    full = np.divide(exponentials, total, out=np.zeros_like(exponentials), where=total > 0)
    with np.errstate(divide="ignore"):
        log_sum_exp = (top + np.log(total))[..., 0]
    weights, sinks = full[..., :keys], None if scoring.sink is None else full[..., keys]
    expected = measure(
        weights, allowed, None if rows is None else rows.numpy(), log_sum_exp, sinks, scoring.offset
    )
    repeated = v.double().repeat_interleave(HEADS // v.shape[0], 0).numpy()
    return Example(
        q, k, v, scoring, rows, weights, weights @ repeated, expected, np.abs(scores[allowed]).max()
    )


def score(q: Tensor, k: Tensor, scoring: Scoring) -> np.ndarray:
    """What softmax is given (head, query, key), float64, minus infinity where hidden."""
    queries, keys = q.shape[1], k.shape[1]
    shared = k.double().repeat_interleave(HEADS // k.shape[0], 0)
    scores = (q.double() @ shared.transpose(1, 2)).numpy() * scoring.scale
    if scoring.softcap is not None:
        scores = scoring.softcap * np.tanh(scores / scoring.softcap)
    if scoring.bias is not None:
        scores = scores + scoring.bias.double().numpy()
    i, j = np.arange(queries)[:, None], np.arange(keys)
    if scoring.distance_bias is not None:
        scores = scores + scoring.distance_bias.double().numpy()[:, j - i + queries - 1]
    hidden = np.zeros((queries, keys), dtype=bool)
    if scoring.causal:
        hidden |= j > i + scoring.offset
    if scoring.window is not None:
        hidden |= np.abs(i + scoring.offset - j) >= scoring.window
    if scoring.key_mask is not None:
        hidden |= ~scoring.key_mask.numpy()
    return np.where(hidden, NEVER, scores)


def check(found: HeadStatistics, example: Example, relative: bool = False) -> None:
    """Every number within tolerance; counts off by at most the weights within rounding of the threshold."""
    expected, tolerance = example.statistics, 10 * example.rounding
    for name in ("entropy", "peak", "mass", "log_sum_exp", "thumbnail_mean", "thumbnail_max", "allowed"):
        seen, wanted = getattr(found, name).astype(np.float64), getattr(expected, name)
        assert seen.shape == wanted.shape, name
        other = seen != wanted  # not where both are minus infinity
        size = np.maximum(1, np.abs(wanted[other])) if relative else 1
        assert (np.abs(seen[other] - wanted[other]) <= tolerance * size).all(), name
    longest = max(example.weights.shape[1:])
    assert np.abs(found.distance - expected.distance).max() <= tolerance * longest
    near = np.abs(example.weights - expected.threshold) <= example.rounding
    assert (np.abs(found.above - expected.above) <= near.sum(axis=-1)).all()
    reached = np.take_along_axis(example.weights, found.peak_key[..., None].astype(np.int64), -1)[..., 0]
    assert (reached >= expected.peak - example.rounding).all()
    assert np.array_equal(found.rows, expected.rows)
    assert found.threshold == expected.threshold
