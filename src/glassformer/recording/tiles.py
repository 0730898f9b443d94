"""Any part of a map at any zoom: what a page asks for when someone pans and zooms like in a street map.

In:   an AttentionMap, a head, a level (2**level tokens a pixel, both ways) and a place.
Out:  pixels (query pixel, key pixel), float32: exact weights at level 0, their means or maxima above it.

A coarse level is read from the head's pyramid or the thumbnail, where one is fine enough; otherwise it is
computed from queries and keys in panels that fit the cache, without what causal mask and window hide.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import RecordingError
from glassformer.recording.arrays import Floats, require_choice, require_count, wrong_value
from glassformer.recording.attention_map import AttentionMap
from glassformer.recording.difference_map import DifferenceMap
from glassformer.recording.factors import Factors
from glassformer.recording.pooling import (
    POOL_PEAKS,
    count_cells,
    count_pixels,
    pool_extreme,
    pool_max,
    pool_mean,
    pool_sum,
)
from glassformer.recording.products import BLOCK, arrange_keys, multiply
from glassformer.recording.statistics import Content, Pyramid

How = Literal["mean", "max"]
Pixels = NDArray[np.float32]

SIZE = 256  # pixels a side
PYRAMID_LEVEL = 6  # 64 tokens a pixel: finer tiles are computed in time, coarser ones are not
MOST_EXTREMES = 1 << 24  # differences that one tile of extremes may compute
_PANEL = 256  # query rows at once
_CHUNK = 512  # keys at once: a panel of both stays in the second-level cache
_WORKERS = min(4, os.cpu_count() or 1)


def count_levels(attention_map: AttentionMap, size: int = SIZE) -> int:
    """How many levels there are, from one token a pixel up to the whole map in one tile."""
    longest = max(len(attention_map.query), len(attention_map.key), 1)
    return next(level for level in range(64) if count_pixels(longest, level) <= size) + 1


def tile(
    attention_map: AttentionMap,
    head: int,
    level: int,
    row: int,
    column: int,
    size: int = SIZE,
    how: How = "mean",
) -> Pixels:
    """One tile: size x size pixels, fewer at the right and lower edge.

    >>> recording = gf.record("zoo/bert", "The cat sleeps on the mat.")
    >>> gf.tile(recording.map(), head=1, level=1, row=0, column=0).shape  # 2 x 2 tokens a pixel
    (5, 5)
    """
    attention_map.require_head(head)
    for name, number in (("level", level), ("row", row), ("column", column)):
        require_count(f"tile({name}=)", number)
    if not isinstance(size, int) or size < 1:
        raise wrong_value("tile(size=)", size, "at_least_one")
    require_choice("tile(how=)", how, ("mean", "max"))
    _, queries, keys = attention_map.shape
    rows, columns = _extent(row, size, level, queries), _extent(column, size, level, keys)
    if rows.start >= rows.stop or columns.start >= columns.stop:
        raise RecordingError(
            "recording.no_tile",
            row=row,
            column=column,
            level=level,
            rows=-(-count_pixels(queries, level) // size),
            columns=-(-count_pixels(keys, level) // size),
        )
    if level == 0:
        return attention_map.weights(head, rows, columns)
    if isinstance(attention_map, DifferenceMap):
        if how == "max":
            return _pool_difference(attention_map, head, level, rows, columns)
        minuend, subtrahend = attention_map.minuend, attention_map.subtrahend
        return tile(minuend, head, level, row, column, size) - tile(
            subtrahend, head, level, row, column, size
        )
    pyramid = _pyramid_of(attention_map, head, level)
    if pyramid is not None:
        return _coarsen(pyramid, level, rows, columns, how, attention_map.content)
    if attention_map.peek("dense") is not None:
        pool = pool_mean if how == "mean" else POOL_PEAKS[attention_map.content]
        return pool(attention_map.weights(head, rows, columns), level)
    return _pool_factors(attention_map.require_factors(head=head), head, level, rows, columns, how)


def _pool_difference(
    attention_map: DifferenceMap, head: int, level: int, rows: slice, columns: slice
) -> Pixels:
    """The differences farthest from zero: they do not follow from two tiles; every one is computed."""
    cells = (rows.stop - rows.start) * (columns.stop - columns.start)
    if cells > MOST_EXTREMES:
        raise RecordingError("recording.no_extremes", cells=cells, most=MOST_EXTREMES)
    strip = max(_PANEL, 1 << level)
    parts = [
        pool_extreme(attention_map.weights(head, slice(start, min(start + strip, rows.stop)), columns), level)
        for start in range(rows.start, rows.stop, strip)
    ]
    return np.concatenate(parts)


def _pool_factors(factors: Factors, head: int, level: int, rows: slice, columns: slice, how: How) -> Pixels:
    """Means or maxima over squares of 2**level tokens, computed in float32."""
    fine = min(level, PYRAMID_LEVEL)  # the panels are pooled so far at once, the rest below
    pixels = _pool_panels(factors, head, fine, rows, columns, how)
    if how == "max":
        return pool_max(pixels, level - fine)
    cells = count_cells((rows.stop - rows.start, columns.stop - columns.start), level)
    return (pool_sum(pixels, level - fine) / cells).astype(np.float32)


def _pool_panels(factors: Factors, head: int, level: int, rows: slice, columns: slice, how: How) -> Pixels:
    """Sums or maxima of the pixels of a rectangle, panel by panel; level is at most PYRAMID_LEVEL."""
    shape = (count_pixels(rows.stop - rows.start, level), count_pixels(columns.stop - columns.start, level))
    pixels = np.zeros(shape, dtype=np.float32)
    reach = _chunks(factors.reach(rows), columns)
    if reach.start >= reach.stop:
        return pixels
    arranged = arrange_keys(factors.keys_of(head)[reach], np.float32)

    def pool_panel(start: int) -> None:
        panel = slice(start, min(start + _PANEL, rows.stop))
        near = _chunks(factors.reach(panel), columns)
        queries, shift = _prepare(factors, head, panel)
        height, down = panel.stop - start, (start - rows.start) >> level
        for first in range(near.start, near.stop, _CHUNK):
            keys = slice(first, min(first + _CHUNK, near.stop))
            width, right = keys.stop - first, (first - columns.start) >> level
            block = (first - reach.start) // BLOCK
            exponents = multiply(queries, arranged[block : block - (-width // BLOCK)])  # (256, width), padded
            factors.finish(exponents[:height, :width], head, panel, keys)
            exponents[:, width:] = -np.inf
            exponents -= shift[:, None]
            filled = np.s_[: count_pixels(height, level), : count_pixels(width, level)]
            if how == "max":
                np.exp(pool_max(exponents, level)[filled], out=pixels[down:, right:][filled])
            else:
                np.exp(exponents, out=exponents)
                pixels[down:, right:][filled] = pool_sum(exponents, level)[filled]

    starts = range(rows.start, rows.stop, _PANEL)
    with ThreadPoolExecutor(min(_WORKERS, len(starts))) as workers:
        list(workers.map(pool_panel, starts))
    return pixels


def _prepare(factors: Factors, head: int, panel: slice) -> tuple[Floats, Floats]:
    """Scaled queries of a panel (256, width) and log-sum-exp (256,); rows past the end get weight 0."""
    height = panel.stop - panel.start
    queries = np.zeros((_PANEL, factors.width), dtype=np.float32)
    np.multiply(factors.queries_of(head)[panel], np.float32(factors.scale), out=queries[:height])
    shift = np.full(_PANEL, np.inf, dtype=np.float32)
    shift[:height] = factors.row_shift(head, panel)
    return queries, shift


def _chunks(reach: slice, columns: slice) -> slice:
    """The part of `columns` within reach, widened to whole chunks counted from the first column."""
    start = max(reach.start, columns.start)
    start -= (start - columns.start) % _CHUNK
    return slice(start, min(reach.stop, columns.stop))


def _extent(index: int, size: int, level: int, tokens: int) -> slice:
    """The tokens under the index-th tile of an axis."""
    return slice((index * size) << level, min(((index + 1) * size) << level, tokens))


def _pyramid_of(attention_map: AttentionMap, head: int, level: int) -> Pyramid | None:
    """A pyramid that is fine enough for a level: the head's own, or else its thumbnail."""
    pyramid = attention_map.pyramids.get(head)
    if pyramid is not None and pyramid.level <= level:
        return pyramid
    statistics = attention_map.statistics
    if statistics.level <= level:
        return Pyramid(statistics.level, statistics.thumbnail_mean[head], statistics.thumbnail_max[head])
    return None


def _coarsen(pyramid: Pyramid, level: int, rows: slice, columns: slice, how: How, content: Content) -> Pixels:
    """Pixels of a level from the finer ones of a pyramid: maxima of maxima, means weighted by their cells."""
    finer = pyramid.level
    part = np.s_[
        rows.start >> finer : count_pixels(rows.stop, finer),
        columns.start >> finer : count_pixels(columns.stop, finer),
    ]
    coarser = level - finer
    if how == "max":
        return POOL_PEAKS[content](pyramid.maximum[part], coarser)
    shape = (rows.stop - rows.start, columns.stop - columns.start)
    sums = pool_sum(pyramid.mean[part] * count_cells(shape, finer), coarser)
    return (sums / count_cells(shape, level)).astype(np.float32)
