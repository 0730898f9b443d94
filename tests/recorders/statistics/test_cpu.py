"""Threads share the work on a CPU."""

import numpy as np
import pytest
import torch

from glassformer.recorders.statistics import cpu as statistics_cpu
from measured_examples import check, make_example

pytestmark = pytest.mark.numeric  # by what its helpers compare


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
