"""Pyramids of chosen heads."""

import pytest

from glassformer.recording import (
    Pyramid,
    pool_max,
    pool_mean,
)
from measured_examples import check, make_example
from tolerances import assert_near


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
