"""Streaming statistics against a plain float64 softmax, for every kind of attention."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from glassformer.errors import RecordingError
from glassformer.recorders.statistics import cpu as statistics_cpu
from glassformer.recorders.statistics import cpu_rows as statistics_rows
from glassformer.recorders.statistics.measure import Measured, attend_and_measure, head_statistics
from glassformer.recorders.statistics.raw import Wanted
from glassformer.recorders.statistics.scoring import Scoring
from glassformer.recording import (
    AttentionMap,
    Factors,
    HeadStatistics,
    Pyramid,
    Tokens,
    measure,
    pool_max,
    pool_mean,
    tile,
)
from glassformer.rounding import rounding
from tolerances import assert_near

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


@pytest.fixture(params=sorted(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def test_statistics_equal_float64(kind: str) -> None:
    example = make_example(kind)
    check(head_statistics(example.queries, example.keys, example.scoring, rows=example.rows), example)


def test_output_and_weights_come_from_the_same_pass(kind: str) -> None:
    example = make_example(kind)
    measured = example.measure(weights=True)
    check(measured.statistics, example)
    assert measured.weights is not None
    assert np.abs(measured.weights - example.weights).max() <= example.rounding
    assert measured.output is not None
    assert np.abs(measured.output.numpy() - example.output).max() <= 10 * example.rounding


def test_long_rows_are_measured_in_spans(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics_rows, "SPAN", 64)
    check(make_example(kind, 300).measure().statistics, make_example(kind, 300))


@pytest.mark.parametrize("heads", [1, 3, 6])
def test_threads_share_heads_or_rows(kind: str, heads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    example = make_example(kind, 200)
    together = example.measure(weights=True)
    monkeypatch.setattr(statistics_cpu, "FEW", 0)
    monkeypatch.setattr(statistics_cpu, "CELLS", heads * 128 * 256)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        apart = example.measure(weights=True)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    check(apart.statistics, example)
    assert np.abs(apart.weights - together.weights).max() <= 1e-7


@pytest.mark.parametrize("length", [1, 2, 63, 64, 65, 128, 129, 260])
def test_any_length(length: int) -> None:
    example = make_example("causal", length)
    measured = example.measure(weights=True)
    check(measured.statistics, example)
    assert_near(measured.weights, example.weights)


@pytest.mark.parametrize(("queries", "keys"), [(0, 5), (3, 0)])
def test_nothing_looks_at_nothing(queries: int, keys: int) -> None:
    found = attend_and_measure(torch.zeros(2, queries, 8), torch.zeros(2, keys, 8), None, Scoring(1.0))
    assert found.statistics.allowed.tolist() == [[0] * queries] * 2
    assert found.statistics.mass.tolist() == [[0.0] * keys] * 2


def test_the_threshold_is_strict() -> None:
    # Four equal weights of exactly 0.25 are not above 0.25.
    example = head_statistics(torch.zeros(1, 4, 8), torch.zeros(1, 4, 8), Scoring(1.0), threshold=0.25)
    assert example.above.tolist() == [[0, 0, 0, 0]]
    lower = head_statistics(torch.zeros(1, 4, 8), torch.zeros(1, 4, 8), Scoring(1.0), threshold=0.2)
    assert lower.above.tolist() == [[4, 4, 4, 4]]


def test_of_equal_weights_the_first_is_the_peak() -> None:
    found = head_statistics(torch.zeros(2, 200, 8), torch.zeros(2, 200, 8), Scoring(1.0, window=3))
    assert found.peak_key.tolist() == [[max(0, i - 2) for i in range(200)]] * 2
    assert np.allclose(found.entropy[:, 2:-2], np.log(5))


def test_distances_stay_exact_far_into_a_text() -> None:
    # All weight on the key before each query, at positions where float32 has no digits left for products.
    keys = torch.zeros(1, 4096, 16)
    scoring = Scoring(1.0, causal=True, window=2, offset=0)
    found = head_statistics(torch.zeros(1, 4096, 16), keys, scoring)
    assert_near(found.distance[0, 1:], 0.5)


def test_underflow_is_no_weight() -> None:
    queries = torch.tensor([[[1.0]] * 3])
    keys = torch.tensor([[[0.0], [-95.0], [-300.0]]])  # weights 1, 5e-42 (denormal), 0
    found = attend_and_measure(queries, keys, None, Scoring(1.0), Wanted(weights=True))
    assert found.statistics.peak.tolist() == [[1.0, 1.0, 1.0]]
    assert found.weights is not None
    assert found.weights[0, 0, 1] <= 1e-38


def test_a_whole_map_can_be_built_from_what_is_measured(kind: str) -> None:
    example = make_example(kind)
    measured = example.measure(pyramids=(1,))
    scoring, (_, queries, keys) = example.scoring, example.weights.shape

    def array(tensor: Tensor | None) -> np.ndarray | None:
        return None if tensor is None else tensor.numpy()

    factors = Factors(
        array(example.queries), array(example.keys), measured.statistics.log_sum_exp, scoring.scale,
        array(scoring.bias), array(scoring.distance_bias), scoring.causal, scoring.window, scoring.offset,
        array(scoring.key_mask), scoring.softcap, array(scoring.sink),
    )  # fmt: skip
    axes = Tokens.positional("target", queries), Tokens.positional("source", keys)
    whole = AttentionMap(
        "decoder", 0, "cross", *axes, measured.statistics, factors=factors, pyramids=measured.pyramids
    )
    assert np.abs(whole.weights(1) - example.weights[1]).max() <= example.rounding
    assert_near(tile(whole, 1, 2, 0, 0), pool_mean(example.weights[1], 2))


@pytest.mark.parametrize("kind_of_long", ["causal", "full"])
def test_pyramids_of_chosen_heads(kind_of_long: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from glassformer.recorders.statistics import raw

    monkeypatch.setattr(raw, "PYRAMID_LEVEL", 1)
    example = make_example(kind_of_long, 270)
    measured = example.measure(pyramids=(0, 4))
    assert sorted(measured.pyramids) == [0, 4]
    check(measured.statistics, example)
    for head, found in measured.pyramids.items():
        assert isinstance(found, Pyramid)
        assert found.level == 1
        assert_near(found.mean, pool_mean(example.weights[head], 1))
        assert_near(found.maximum, pool_max(example.weights[head], 1))


def test_gradients_and_inference_mode_do_not_matter() -> None:
    example = make_example("causal", 200)
    queries = example.queries.clone().requires_grad_()
    measured = attend_and_measure(queries, example.keys, example.values, example.scoring)
    assert measured.output is not None
    assert not measured.output.requires_grad
    with torch.inference_mode():
        inside = example.queries * 1
        check(head_statistics(inside, example.keys, example.scoring), example)


def test_half_precision_is_measured_in_single() -> None:
    example = make_example("causal")
    halves = [each.half() for each in (example.queries, example.keys, example.values)]
    measured = attend_and_measure(*halves, example.scoring)
    assert measured.output is not None
    assert measured.output.dtype == torch.float16
    single = head_statistics(halves[0].float(), halves[1].float(), example.scoring)
    assert np.array_equal(measured.statistics.entropy, single.entropy)


def test_nan_is_refused() -> None:
    example = make_example("causal")
    example.queries[2, 50, 3] = float("nan")
    with pytest.raises(RecordingError, match="head 2, query 50"):
        _ = example.measure().statistics


@pytest.mark.parametrize(
    "shapes",
    [
        ((6, 5, 16), (4, 5, 16)),
        ((6, 5, 16), (6, 5, 8)),
        ((1, 6, 5, 16), (1, 6, 5, 16)),
        ((6, 5, 16), (0, 5, 16)),
    ],
)
def test_what_does_not_fit_is_refused(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    queries, keys = (torch.zeros(shape) for shape in shapes)
    with pytest.raises(RecordingError, match="one by one"):
        head_statistics(queries, keys, Scoring(1.0))


def test_a_pyramid_of_no_head_is_refused() -> None:
    with pytest.raises(RecordingError, match="heads 6"):
        make_example("causal").measure(pyramids=(6,))


def test_scoring_knows_what_factors_know() -> None:
    shared = {each.name for each in fields(Scoring)}
    assert shared == {each.name for each in fields(Factors)} - {"queries", "keys", "log_sum_exp"}
    assert replace(Scoring(1.0), window=3).reach(slice(10, 20), 100) == slice(8, 22)


# On a GPU


def on_gpu(example: Example, dtype: torch.dtype) -> Measured:
    states = [each.to("cuda", dtype) for each in (example.queries, example.keys, example.values)]
    return attend_and_measure(*states, example.scoring, Wanted(example.rows, True, (2,)))


@pytest.mark.gpu
@pytest.mark.parametrize("length", [100, 300])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_gpu_equals_float64(kind: str, length: int, dtype: torch.dtype) -> None:
    example = make_example(kind, length, dtype=dtype)
    measured = on_gpu(example, dtype)
    check(measured.statistics, example, relative=True)
    assert measured.weights is not None
    assert measured.output is not None
    assert np.abs(measured.weights - example.weights).max() <= 3 * example.rounding
    coarse = 3e-2 if dtype == torch.bfloat16 else 10 * example.rounding
    assert np.abs(measured.output.float().cpu().numpy() - example.output).max() <= coarse
    found = measured.pyramids[2]
    assert_near(found.mean, pool_mean(example.weights[2], found.level))


@pytest.mark.gpu
@pytest.mark.parametrize("length", [4096, 4100, 9000])
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_gpu_equals_cpu_on_long_texts(length: int, kind: torch.dtype) -> None:
    chance = torch.Generator().manual_seed(length)
    queries, keys, values = (torch.randn(2, length, 64, generator=chance).to(kind) for _ in range(3))
    scoring = Scoring(0.2, causal=True)
    there = attend_and_measure(queries.cuda(), keys.cuda(), values.cuda(), scoring, Wanted(pyramids=(1,)))
    here = attend_and_measure(queries.float(), keys.float(), values.float(), scoring, Wanted(pyramids=(1,)))
    for name in ("entropy", "peak", "log_sum_exp", "thumbnail_mean", "thumbnail_max", "allowed"):
        seen, wanted = getattr(there.statistics, name), getattr(here.statistics, name)
        assert_near(seen, wanted, where=name)
    assert_near(there.statistics.mass, here.statistics.mass)
    assert np.allclose(there.statistics.distance, here.statistics.distance, rtol=1e-5, atol=1e-2)
    assert np.abs(there.statistics.above - here.statistics.above).max() <= 1
    assert_near(there.pyramids[1].mean, here.pyramids[1].mean)
