"""Scores of many texts as one: means with intervals, chance levels, p-values, types.

In:   one number for each text and head.
Out:  `HeadScore`s (bootstrap over texts); which detectors a head passes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glassformer.atlases.schema import Interval
from glassformer.metrics.scores import Numbers

RESAMPLES = 1000
SIGNIFICANT = 0.05  # of what is found, at most this share may be chance
DIGITS = 4  # of numbers in atlas.json


@dataclass(frozen=True, slots=True)
class Bounds:
    """Means over texts with 95 % intervals, one for each head; NaN: the interval is not known."""

    mean: Numbers
    low: Numbers
    high: Numbers

    def read(self, head: int) -> Interval:
        """Of one head."""
        low, high = (None if np.isnan(each[head]) else tidy(each[head]) for each in (self.low, self.high))
        return Interval(mean=tidy(self.mean[head]), low=low, high=high)


def bootstrap(values: Numbers, seed: int) -> Bounds:
    """Intervals of the mean of (text, head), by drawing texts again; percentiles of 1,000 draws.

    Of few texts they are too narrow (with 8, about 88 % hold the true mean); of one there are none.
    """
    count = len(values)
    mean = values.mean(axis=0)
    if count < 2:
        unknown = np.full_like(mean, np.nan)
        return Bounds(mean, unknown, unknown)
    draws = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), RESAMPLES)
    low, high = np.quantile(draws @ values / count, (0.025, 0.975), axis=0)
    return Bounds(mean, np.minimum(low, mean), np.maximum(high, mean))


def compare_with_chance(scores: Numbers, nulls: Numbers) -> Numbers:
    """The p-value (head,) of "no higher than chance": one-sided, paired by text (Student's t)."""
    from scipy.special import stdtr

    differences = scores - nulls
    count = len(differences)
    mean = differences.mean(axis=0)
    if count < 2:
        return np.ones_like(mean)
    error = differences.std(axis=0, ddof=1) / np.sqrt(count)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(error > 0, mean / error, np.where(mean > 0, np.inf, -np.inf))
    found: Numbers = stdtr(count - 1, -statistic)
    return found


def adjust(values: Numbers) -> Numbers:
    """p-values of many tests: of those below α, at most a share α is chance (Benjamini–Hochberg)."""
    flat = values.ravel()
    order = np.argsort(flat)
    scaled = flat[order] * len(flat) / np.arange(1, len(flat) + 1)
    adjusted = np.empty_like(flat)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted.reshape(values.shape)


def find_baseline(guesses: Sequence[dict[int, float]]) -> tuple[int, float] | None:
    """The one offset that is right most often over all texts, and how often; of equal ones the nearest."""
    if not guesses or not any(guesses):
        return None
    sums: dict[int, float] = {}
    for each in guesses:
        for offset, share in each.items():
            sums[offset] = sums.get(offset, 0.0) + share
    offset = min(sums, key=lambda each: (-sums[each], abs(each), each))
    return offset, sums[offset] / len(guesses)


def tidy(number: float | np.floating) -> float:
    """A number as atlas.json has it."""
    return round(float(number), DIGITS)


def choose_rows(texts: int, most: int) -> NDArray[np.int64]:
    """So many texts of a corpus, spread evenly."""
    return np.unique(np.linspace(0, texts - 1, min(texts, most)).round().astype(np.int64))
