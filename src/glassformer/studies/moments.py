"""Numbers of many texts, kept as sums: any number of texts in the same memory, and studies can be added.

In:   for each text and column (a metric of a head, or the effect of an edit) a total, a count and a value.
Out:  means, deviations and extremes over texts; 95 % intervals by a bootstrap over texts.

The bootstrap is that of Poisson: in each resample a text counts as often as a Poisson variable of mean 1
says, which for many texts is the usual resampling with replacement. A text draws these numbers from its own
content and number alone, so that neither the order of work nor the machine changes a result.
"""

from dataclasses import dataclass, fields
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

RESAMPLES = 400
INTERVAL = (2.5, 97.5)  # percentiles
FEWEST = 2  # texts of an interval: resamples of a single one are all alike, which says nothing


def draw_weights(text: bytes, number: int, resamples: int = RESAMPLES) -> Numbers:
    """How often a text counts in each resample (resample,)."""
    seed = int.from_bytes(blake2b(text + number.to_bytes(8, "big"), digest_size=16).digest(), "big")
    return np.random.default_rng(seed).poisson(1.0, resamples).astype(np.float64)


@dataclass(slots=True, eq=False)
class Moments:
    """Sums over texts, by column; those of resamples are (resample, column)."""

    texts: Numbers  # with a value
    totals: Numbers
    counts: Numbers
    mean: Numbers  # of values
    squares: Numbers  # squared distances of values from their mean, added up
    least: Numbers
    most: Numbers
    resampled_totals: Numbers
    resampled_counts: Numbers
    resampled_values: Numbers
    resampled_texts: Numbers

    @classmethod
    def of_none(cls, columns: int, resamples: int = RESAMPLES) -> "Moments":
        plain = [np.zeros(columns) for _ in range(5)]
        extremes = [np.full(columns, np.inf), np.full(columns, -np.inf)]
        resampled = [np.zeros((resamples, columns)) for _ in range(4)]
        return cls(*plain, *extremes, *resampled)

    @classmethod
    def of_texts(cls, totals: Numbers, counts: Numbers, values: Numbers, weights: Numbers) -> "Moments":
        """Of some texts (text, column), NaN where there is no value; weights are (text, resample)."""
        known = ~np.isnan(values)
        texts = known.sum(axis=0).astype(np.float64)
        plain = np.where(known, values, 0.0)
        mean = plain.sum(axis=0) / np.maximum(texts, 1)
        squares = (np.where(known, values - mean, 0.0) ** 2).sum(axis=0)
        return cls(
            texts,
            totals.sum(axis=0),
            counts.sum(axis=0),
            mean,
            squares,
            np.where(known, values, np.inf).min(axis=0, initial=np.inf),
            np.where(known, values, -np.inf).max(axis=0, initial=-np.inf),
            *[weights.T @ each for each in (totals, counts, plain, known.astype(np.float64))],
        )

    def add(self, other: "Moments") -> None:
        """The texts of another, too (Chan's rule for the squares)."""
        texts = self.texts + other.texts
        apart = other.mean - self.mean
        share = other.texts / np.maximum(texts, 1)
        self.squares += other.squares + apart**2 * self.texts * share
        self.mean += apart * share
        self.texts = texts
        self.least = np.minimum(self.least, other.least)
        self.most = np.maximum(self.most, other.most)
        for name in ("totals", "counts", *(f"resampled_{each}" for each in _SUMS)):
            getattr(self, name).__iadd__(getattr(other, name))

    def arrays(self) -> dict[str, Numbers]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def describe(self) -> dict[str, Numbers]:
        """The columns of a table; NaN where no text has a value, and intervals of fewer than two."""
        known = self.texts > 0
        blank = np.where(known, 0.0, np.nan)
        enough = np.where(self.texts >= FEWEST, 0.0, np.nan)
        low, high = _find_interval(self.resampled_totals, self.resampled_counts) + enough
        mean_low, mean_high = _find_interval(self.resampled_values, self.resampled_texts) + enough
        return {
            "value": _divide(self.totals, self.counts),
            "low": low,
            "high": high,
            "mean": self.mean + blank,
            "mean_low": mean_low,
            "mean_high": mean_high,
            "deviation": np.sqrt(_divide(self.squares, self.texts - 1)),
            "least": np.where(known, self.least, np.nan),
            "most": np.where(known, self.most, np.nan),
        }


_SUMS = ("totals", "counts", "values", "texts")


def _divide(above: Numbers, below: Numbers) -> Numbers:
    found = np.full(above.shape, np.nan)
    np.divide(above, below, out=found, where=below > 0)
    return found


def _find_interval(above: Numbers, below: Numbers) -> Numbers:
    """Percentiles (2, column) of the resamples that have any text; NaN where fewer than half have."""
    ratios = _divide(above, below)
    few = np.isnan(ratios).mean(axis=0) > 0.5
    ratios[:, few] = 0.0
    found: Numbers = np.nanpercentile(ratios, INTERVAL, axis=0)
    return np.where(few, np.nan, found)
