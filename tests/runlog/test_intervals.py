import pytest

from glassformer.runlog.intervals import estimate, estimate_difference, quantile


def test_a_mean_with_its_interval() -> None:
    found = estimate([1.0, 2.0, 3.0, 4.0, 5.0])
    assert found.mean == 3.0
    # variance 2.5 of five numbers, t(4) = 2.776: 2.776 · √(2.5 / 5)
    assert found.half == pytest.approx(2.776 * 0.5**0.5)
    assert (found.low, found.high) == (3 - found.half, 3 + found.half)
    assert estimate([2.5]).half is None


def test_a_difference_by_welch() -> None:
    # variances 2.5 / 5 and 20/3 / 4; degrees of freedom 2.1667² / (0.5² / 4 + 1.6667² / 3) = 4.75: t(4)
    found = estimate_difference([1.0, 2, 3, 4, 5], [2.0, 4, 6, 8])
    assert found.mean == -2.0
    assert found.half == pytest.approx(2.776 * (0.5 + 20 / 3 / 4) ** 0.5)
    assert estimate_difference([1.0], [2.0, 3.0]).half is None
    assert estimate_difference([1.0, 1.0], [2.0, 2.0]).half == 0.0


def test_quantiles_fall_and_are_never_too_small() -> None:
    exact = {1: 12.7062, 4: 2.776445, 30: 2.042272, 31: 2.039513, 60: 2.000298, 1000: 1.962339}
    for freedom, value in exact.items():
        assert value - 5e-4 <= quantile(freedom) <= value + 6e-4
    values = [quantile(freedom) for freedom in range(1, 200)]
    assert values == sorted(values, reverse=True)
