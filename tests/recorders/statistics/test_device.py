"""What stays on its device equals what is copied from it."""

from typing import Any

import numpy as np
import pytest
import torch

from glassformer.recorders.statistics.device import FIELDS
from glassformer.recorders.statistics.measure import attend_and_keep, attend_and_measure
from glassformer.recorders.statistics.scoring import Scoring
from tolerances import assert_near

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
SCORINGS: tuple[dict[str, Any], ...] = (
    {},
    {"causal": True},
    {"causal": True, "window": 3},
    {"sink": torch.tensor([0.5, -1.0, 2.0, 0.0])},
    {"key_mask": torch.arange(9) > 1},
    {"bias": torch.where(torch.arange(9) > 4, 0.0, -torch.inf)[None, None]},
)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("given", SCORINGS, ids=lambda each: ", ".join(each) or "plain")
def test_statistics_that_stay(given: dict[str, Any], device: str) -> None:
    queries, keys, values = (torch.randn(4, 9, 16, device=device) for _ in range(3))
    scoring = Scoring(0.25, **given)
    wanted = attend_and_measure(queries, keys, values, scoring)
    output, found = attend_and_keep(queries, keys, values, scoring)
    statistics = wanted.statistics
    assert_near(output, wanted.output)
    for name in FIELDS:
        assert_near(found.arrays[name], getattr(statistics, name), where=name)
    assert np.array_equal(found.allowed.cpu().expand(4, 9), statistics.allowed)
    assert bool(found.finite)
    assert (found.sink is None) == ("sink" not in given)
    if found.sink is not None:
        left = 1 - wanted.statistics.mass.sum() / 36
        assert_near(found.sink.mean(), left)


@pytest.mark.gpu
def test_what_is_not_finite_is_told() -> None:
    queries = torch.randn(1, 5, 16, device="cuda")
    queries[0, 2, 3] = torch.nan
    assert not bool(attend_and_keep(queries, queries, queries, Scoring(1.0))[1].finite)
