"""The arithmetic of rows on a CPU."""

import numpy as np
import pytest
import torch

from glassformer.recorders.statistics import cpu_rows as statistics_rows
from glassformer.recorders.statistics.measure import attend_and_measure, head_statistics
from glassformer.recorders.statistics.raw import Wanted
from glassformer.recorders.statistics.scoring import Scoring
from measured_examples import check, make_example
from tolerances import assert_near


def test_long_rows_are_measured_in_spans(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics_rows, "SPAN", 64)
    check(make_example(kind, 300).measure().statistics, make_example(kind, 300))


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
