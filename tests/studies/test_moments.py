import numpy as np

from glassformer.rounding import rounding
from glassformer.studies import Moments, draw_weights


def make(texts: int, seed: int) -> tuple[np.ndarray, ...]:
    generator = np.random.default_rng(seed)
    counts = generator.integers(1, 9, (texts, 3)).astype(float)
    totals = counts * generator.normal(2.0, 1.0, (texts, 3))
    values = totals / counts
    values[0, 2] = np.nan
    totals[0, 2] = counts[0, 2] = 0
    weights = np.array([draw_weights(b"text", seed * 1000 + number) for number in range(texts)])
    return totals, counts, values, weights


def test_sums_of_parts_are_those_of_the_whole() -> None:
    given = make(40, 1)
    whole = Moments.of_texts(*given)
    added = Moments.of_none(3)
    for part in (slice(0, 7), slice(7, 7), slice(7, 40)):
        added.add(Moments.of_texts(*(each[part] for each in given)))
    tolerance = rounding(summands=40, magnitude=400, dtype="float64")
    for name, found in added.describe().items():
        assert np.abs(found - whole.describe()[name]).max() <= tolerance, name
    totals, counts, values, _ = given
    described = whole.describe()
    assert np.abs(described["value"] - totals.sum(0) / counts.sum(0)).max() <= tolerance
    assert np.abs(described["mean"] - np.nanmean(values, axis=0)).max() <= tolerance
    assert np.abs(described["deviation"] - np.nanstd(values, axis=0, ddof=1)).max() <= tolerance
    assert (described["most"] == np.nanmax(values, axis=0)).all()
    assert whole.texts.tolist() == [40, 40, 39]


def test_intervals_cover_the_mean_as_often_as_they_say() -> None:
    inside = []
    for seed in range(20):
        values = np.random.default_rng(seed).normal(0.0, 1.0, (200, 200))  # 200 texts, as many columns
        weights = np.array([draw_weights(b"", 1000 * seed + number) for number in range(200)])
        found = Moments.of_texts(values, np.ones_like(values), values, weights).describe()
        inside.append((found["mean_low"] <= 0) & (found["mean_high"] >= 0))
    assert 0.93 <= np.mean(inside) <= 0.96  # of 4,000 intervals; percentiles of a bootstrap are a bit narrow


def test_columns_without_a_value_say_so() -> None:
    nothing = np.full((3, 1), np.nan)
    weights = np.array([draw_weights(b"", number) for number in range(3)])
    described = Moments.of_texts(np.zeros((3, 1)), np.zeros((3, 1)), nothing, weights).describe()
    assert all(np.isnan(column).all() for column in described.values())


def test_one_text_has_no_interval() -> None:
    totals, counts, values, weights = (each[1:3] for each in make(3, 2))
    for texts in (1, 2):
        found = Moments.of_texts(*(each[:texts] for each in (totals, counts, values, weights))).describe()
        assert not np.isnan([found["value"], found["mean"]]).any()
        intervals = [found[name] for name in ("low", "high", "mean_low", "mean_high")]
        assert np.isnan(intervals).all() if texts == 1 else not np.isnan(intervals).any()
