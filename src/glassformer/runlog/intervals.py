"""Means of a few runs with 95 % intervals (Student's t), and the difference of two means (Welch).

In:   one number for each run, such as the scores of five seeds.
Out:  `Estimate`s; no interval where there is only one number.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

# The 97.5 % quantiles of Student's t with 1, 2, 3 … degrees of freedom; beyond, they fall towards 1.96.
_T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and the half width of its 95 % interval; None where one number tells nothing about it."""

    mean: float
    half: float | None
    count: int

    @property
    def low(self) -> float | None:
        return None if self.half is None else self.mean - self.half

    @property
    def high(self) -> float | None:
        return None if self.half is None else self.mean + self.half


def estimate(values: Sequence[float]) -> Estimate:
    """The mean of some numbers."""
    count = len(values)
    if count < 2:
        return Estimate(fmean(values), None, count)
    return Estimate(fmean(values), quantile(count - 1) * math.sqrt(variance(values) / count), count)


def estimate_difference(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """The mean of the first minus that of the second, whose variances may differ."""
    mean, count = fmean(first) - fmean(second), min(len(first), len(second))
    if count < 2:
        return Estimate(mean, None, count)
    parts = [variance(values) / len(values) for values in (first, second)]
    if not sum(parts):
        return Estimate(mean, 0.0, count)
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(values) - 1) for part, values in zip(parts, (first, second), strict=True)
    )
    return Estimate(mean, quantile(int(freedom)) * math.sqrt(sum(parts)), count)


def quantile(freedom: int) -> float:
    """Student's t at 97.5 %, for whole degrees of freedom; never too small."""
    if freedom <= len(_T):
        return _T[max(freedom, 1) - 1]
    z = 1.959964
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2) + 1e-4
