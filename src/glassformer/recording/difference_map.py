"""A difference of two maps that is computed where someone looks, and kept nowhere.

In:   two maps of the same shape.
Out:  DifferenceMap: a signed AttentionMap whose rectangles are the first's weights minus the second's.

Its statistics follow from those of the two: sums and means are subtracted. What does not follow without
every weight (the largest difference of a row, extremes under a pixel of a thumbnail) is not stated: peaks are
NaN, and `thumbnail_max` holds means, too.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import RecordingError
from glassformer.recording.arrays import wrong_value
from glassformer.recording.attention_map import AttentionMap
from glassformer.recording.statistics import HeadStatistics


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class DifferenceMap(AttentionMap):
    """The weights of one map minus those of another, rectangle by rectangle."""

    minuend: AttentionMap
    subtrahend: AttentionMap

    @classmethod
    def of(cls, minuend: AttentionMap, subtrahend: AttentionMap) -> "DifferenceMap":
        """The first map minus the second."""
        if minuend.shape != subtrahend.shape:
            shape = str(minuend.shape)
            raise wrong_value("DifferenceMap.subtrahend", subtrahend.shape, "shape", shape=shape)
        return cls(
            place=minuend.place,
            query=minuend.query,
            key=minuend.key,
            statistics=subtract_statistics(minuend.statistics, subtrahend.statistics),
            minuend=minuend,
            subtrahend=subtrahend,
        )

    @property
    def has_weights(self) -> bool:
        return True

    def weights(
        self, head: int | None = None, queries: slice | None = None, keys: slice | None = None
    ) -> NDArray[np.float32]:
        return self.minuend.weights(head, queries, keys) - self.subtrahend.weights(head, queries, keys)

    def _check_signed(self) -> None:
        for each in (self.minuend, self.subtrahend):
            if not each.has_weights:
                raise RecordingError("recording.not_kept", place=each.place, what="weights", want="weights")


def subtract_statistics(first: HeadStatistics, second: HeadStatistics) -> HeadStatistics:
    """What can be said of a difference without its values."""
    unknown = np.full(first.entropy.shape, np.nan)
    means = first.thumbnail_mean - second.thumbnail_mean
    nothing = np.zeros(first.entropy.shape, dtype=np.int64)
    return HeadStatistics(
        entropy=unknown,
        peak=unknown,
        peak_key=nothing,
        above=nothing,
        log_sum_exp=unknown,
        distance=unknown,
        allowed=np.maximum(first.allowed, second.allowed),
        mass=first.mass.astype(np.float64) - second.mass,
        thumbnail_mean=means,
        thumbnail_max=means,
        rows=first.rows,
        content="signed",
    )
