"""Statistics as they were measured on CPU or GPU: arrays, not yet checked; and their coarse pictures.

In:   arrays from cpu.py or gpu.py; sums and maxima over squares of 2**level weights, level 6 or finer.
Out:  HeadStatistics; the pixels of thumbnails, and the pyramids of chosen heads: coarse tiles of a long text
      are then read at once.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from glassformer.recording import THRESHOLD, HeadStatistics, Pyramid, pool_max, thumbnail_level
from glassformer.recording.arrays import Floats
from glassformer.recording.pooling import count_cells, count_pixels, pool_sum
from glassformer.recording.tiles import PYRAMID_LEVEL

Picture = NDArray[np.float32]  # (query pixel, key pixel), or one for each head


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to measure of an attention besides the statistics of its heads, and how."""

    rows: Tensor | None = None  # (query,) True for real rows, False for padding; None: all are real
    weights: bool = False  # dense ones, too
    pyramids: Collection[int] = ()  # heads that get one
    threshold: float = THRESHOLD  # beyond, a weight counts as `above`


STATISTICS_ONLY = Wanted()


@dataclass(frozen=True, slots=True)
class RawStatistics:
    """The arrays of a HeadStatistics, which checks them, and what else was wanted."""

    arrays: Mapping[str, NDArray[Any]]  # by the names of HeadStatistics, all but `rows`
    weights: NDArray[np.float32] | None = None  # (head, query, key)
    pyramids: Mapping[int, Pyramid] = field(default_factory=dict)  # by head
    finite: bool = True  # whether the inputs were; on a CPU they are checked before

    def fetch(self) -> None:
        """Nothing is left to copy."""

    def read(self) -> "RawStatistics":
        """The statistics themselves."""
        return self

    def check(self, rows: NDArray[np.bool_] | None, threshold: float) -> HeadStatistics:
        """The statistics of an attention whose query rows are real where `rows` says so."""
        real = np.ones(self.arrays["entropy"].shape[1], dtype=bool) if rows is None else rows
        return HeadStatistics(**self.arrays, rows=real, threshold=threshold, content="weights")


def pixel_level(queries: int, keys: int) -> int:
    """The level that passing weights are pooled at: the thumbnail's, or a pyramid's where that is finer."""
    return min(thumbnail_level(queries, keys), PYRAMID_LEVEL)


def finish_pixels(
    sums: Floats, maxima: Floats, shape: tuple[int, int], finest: int, level: int
) -> tuple[Picture, Picture]:
    """Means and maxima at a level, from sums and maxima (…, query pixel, key pixel) at a finer one."""
    rows, columns = (slice(0, count_pixels(length, finest)) for length in shape)  # without padding
    if level == 0:  # a pixel is a weight
        return sums[..., rows, columns].astype(np.float32, copy=False), maxima[..., rows, columns]
    coarser = level - finest
    mean = pool_sum(sums[..., rows, columns], coarser) / count_cells(shape, level)
    return mean.astype(np.float32), pool_max(maxima[..., rows, columns], coarser)
