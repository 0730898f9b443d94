"""Statistics as they were measured on CPU or GPU: arrays, not yet checked.

In:   arrays from cpu.py or gpu.py.
Out:  HeadStatistics, and the pyramids of chosen heads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from glassformer.recording import HeadStatistics, Pyramid
from glassformer.recording.arrays import Floats, Integers


@dataclass(frozen=True, slots=True)
class RawStatistics:
    """The arrays of a HeadStatistics, which checks them."""

    entropy: Floats  # (head, query)
    peak: Floats  # (head, query)
    peak_key: Integers  # (head, query)
    above: Integers  # (head, query)
    log_sum_exp: NDArray[np.float64]  # (head, query)
    distance: Floats  # (head, query)
    allowed: Integers  # (head, query) or (query,)
    mass: Floats  # (head, key)
    thumbnail_mean: NDArray[np.float32]  # (head, query pixel, key pixel)
    thumbnail_max: NDArray[np.float32]  # (head, query pixel, key pixel)
    weights: NDArray[np.float32] | None = None  # (head, query, key)
    pyramids: Mapping[int, Pyramid] = field(default_factory=dict)  # by head
    finite: bool = True  # whether the inputs were; on a CPU they are checked before

    def check(self, rows: NDArray[np.bool_] | None, threshold: float) -> HeadStatistics:
        """The statistics of an attention whose query rows are real where `rows` says so."""
        return HeadStatistics(
            entropy=self.entropy,
            peak=self.peak,
            peak_key=self.peak_key,
            above=self.above,
            log_sum_exp=self.log_sum_exp,
            distance=self.distance,
            allowed=self.allowed,
            mass=self.mass,
            thumbnail_mean=self.thumbnail_mean,
            thumbnail_max=self.thumbnail_max,
            rows=np.ones(self.entropy.shape[1], dtype=bool) if rows is None else rows,
            threshold=threshold,
        )
