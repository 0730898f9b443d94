"""Statistics, outputs and weights of one pass, compared with float64."""

import numpy as np
import pytest
import torch
from torch import Tensor

from glassformer.errors import RecordingError
from glassformer.place import Place
from glassformer.recorders.statistics.measure import attend_and_measure, head_statistics
from glassformer.recorders.statistics.scoring import Scoring
from glassformer.recording import (
    AttentionMap,
    Factors,
    Tokens,
    pool_mean,
    tile,
)
from measured_examples import check, make_example
from tolerances import assert_near


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
        Place("decoder", "cross", 0), *axes, measured.statistics, factors=factors, pyramids=measured.pyramids
    )
    assert np.abs(whole.weights(1) - example.weights[1]).max() <= example.rounding
    assert_near(tile(whole, 1, 2, 0, 0), pool_mean(example.weights[1], 2))


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
