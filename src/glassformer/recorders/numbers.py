"""What a measurement hands over, wherever it was made: arrays, not yet checked.

In:   numbers from statistics_cpu.py or statistics_gpu.py.
Out:  HeadStatistics, and the pyramids of chosen heads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from glassformer.recorders.pyramid import finish_pixels
from glassformer.recording import HeadStatistics, Pyramid, thumbnail_level
from glassformer.recording.arrays import Floats, Integers


@dataclass(frozen=True, slots=True)
class Numbers:
    """See HeadStatistics; pixels are squares of 2**level tokens, and may be padded."""

    entropy: Floats  # (head, query)
    peak: Floats  # (head, query)
    peak_key: Integers  # (head, query)
    above: Integers  # (head, query)
    log_sum_exp: NDArray[np.float64]  # (head, query)
    distance: Floats  # (head, query)
    allowed: Integers  # (head, query) or (query,)
    mass: Floats  # (head, key)
    sums: Floats  # (head, query pixel, key pixel)
    maxima: Floats  # (head, query pixel, key pixel)
    level: int
    weights: NDArray[np.float32] | None = None  # (head, query, key)
    pyramids: Mapping[int, Pyramid] = field(
        default_factory=dict
    )  # by head, where pixels are too coarse for them

    @property
    def shape(self) -> tuple[int, int]:
        """(query, key)"""
        return self.entropy.shape[1], self.mass.shape[1]

    def pool(self, head: int, level: int) -> Pyramid:
        """A head in squares of 2**level tokens."""
        return finish_pixels(self.sums[head], self.maxima[head], self.shape, self.level, level)

    def check(self, rows: NDArray[np.bool_] | None, threshold: float) -> HeadStatistics:
        """The statistics, which refuse what cannot be."""
        level = thumbnail_level(*self.shape)
        thumbnails = [self.pool(head, level) for head in range(len(self.mass))]
        return HeadStatistics(
            entropy=self.entropy,
            peak=self.peak,
            peak_key=self.peak_key,
            above=self.above,
            log_sum_exp=self.log_sum_exp,
            distance=self.distance,
            allowed=self.allowed,
            mass=self.mass,
            thumbnail_mean=np.stack([each.mean for each in thumbnails]),
            thumbnail_max=np.stack([each.maximum for each in thumbnails]),
            rows=np.ones(self.shape[0], dtype=bool) if rows is None else rows,
            threshold=threshold,
        )
