"""Coarse pictures of heads, made while their weights pass by and are forgotten.

In:   sums and maxima over squares of 2**level weights, level 6 or finer.
Out:  the pixels of thumbnails, and of pyramids where they are wanted: coarse tiles of a long text are then
      read at once.
"""

import numpy as np
from numpy.typing import NDArray

from glassformer.recording import pool_max, thumbnail_level
from glassformer.recording.arrays import Floats
from glassformer.recording.pooling import count_cells, count_pixels, pool_sum
from glassformer.recording.tiles import PYRAMID_LEVEL

Picture = NDArray[np.float32]  # (query pixel, key pixel)


def pixel_level(queries: int, keys: int) -> int:
    """The level that passing weights are pooled at: the thumbnail's, or a pyramid's where that is finer."""
    return min(thumbnail_level(queries, keys), PYRAMID_LEVEL)


def finish_pixels(
    sums: Floats, maxima: Floats, shape: tuple[int, int], finest: int, level: int
) -> tuple[Picture, Picture]:
    """Means and maxima at a level, from sums and maxima (query pixel, key pixel) at a finer one, padded."""
    whole = tuple(slice(0, count_pixels(length, finest)) for length in shape)
    coarser = level - finest
    mean = pool_sum(sums[whole], coarser) / count_cells(shape, level)
    return mean.astype(np.float32), pool_max(maxima[whole], coarser)
