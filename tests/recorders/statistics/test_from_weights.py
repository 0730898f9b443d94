"""Statistics of short texts from their weights: those of float64, and none where weights are others."""

import numpy as np
import pytest
import torch

from glassformer.recorders.statistics import from_weights
from glassformer.recorders.statistics.from_weights import can_measure, measure_weights
from glassformer.recording import HeadStatistics
from measured_examples import KINDS, Example, check, make_example

pytestmark = pytest.mark.numeric  # by what its helpers compare

PLAIN = ["full", "causal", "cross", "grouped", "one key head", "sharp"]


def measure(example: Example, changed: float = 0.0) -> HeadStatistics | None:
    weights = torch.from_numpy(example.weights.astype(np.float32))
    weights[0, 50, 20] += changed
    rows = np.ones(weights.shape[1], dtype=bool) if example.rows is None else example.rows.numpy()
    return measure_weights(weights, example.queries, example.keys, example.scoring, rows)


@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("length", [100, 128])
@pytest.mark.parametrize("cells", [1 << 18, 1])  # many heads at once, or as few as there can be
def test_statistics_are_those_of_float64(
    kind: str, length: int, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(from_weights, "CELLS", cells)
    example = make_example(kind, length)
    found = measure(example)
    assert found is not None
    check(found, example)


def test_padded_rows_are_left_out_of_the_mass() -> None:
    example = make_example("full", 100)
    rows = np.arange(100) % 7 != 3
    weights = torch.from_numpy(example.weights.astype(np.float32))
    found = measure_weights(weights, example.queries, example.keys, example.scoring, rows)
    assert found is not None
    np.testing.assert_allclose(
        found.mass, example.weights[:, rows].sum(1), rtol=0, atol=100 * example.rounding
    )


@pytest.mark.parametrize("kind", PLAIN)
def test_weights_that_do_not_follow_from_queries_and_keys_are_refused(kind: str) -> None:
    example = make_example(kind, 100)
    assert measure(example, changed=10 * example.rounding) is None
    assert measure(example, changed=float("nan")) is None


def test_what_can_be_measured_here() -> None:
    found = set()
    for kind in KINDS:
        example = make_example(kind, 100)
        weights = torch.from_numpy(example.weights.astype(np.float32))
        if can_measure(weights, example.queries, example.scoring):
            found.add(kind)
    assert found == set(PLAIN)
    for length, kind, expected in ((256, "full", True), (257, "full", False), (129, "causal", False)):
        example = make_example(kind, length)
        weights = torch.from_numpy(example.weights.astype(np.float32))
        assert can_measure(weights, example.queries, example.scoring) == expected
    assert not can_measure(weights, example.queries.half(), example.scoring)
    short = make_example("full", 20)
    weights = torch.from_numpy(short.weights.astype(np.float32))
    assert can_measure(weights, short.queries, short.scoring)
    assert not can_measure(weights, short.queries.to("meta"), short.scoring)  # on another device
