"""Means, maxima and extremes over squares of 2**level cells, counted from the upper left corner.

In:   a matrix (query, key), or several (head, query, key); sides need not be multiples of a square's.
Out:  one number a square; squares at the far edges may be partial: a mean is over cells that exist.
"""

import numpy as np

from glassformer.recording.arrays import Floats


def count_pixels(tokens: int, level: int) -> int:
    """How many pixels of 2**level tokens cover so many tokens."""
    return -(-tokens >> level)


def count_cells(shape: tuple[int, int], level: int) -> Floats:
    """How many cells of a matrix of this shape lie in each square (row pixel, column pixel)."""
    rows, columns = (np.diff(np.append(np.arange(0, length, 1 << level), length)) for length in shape)
    return np.outer(rows, columns).astype(np.float32)


def pool_mean(matrix: Floats, level: int) -> Floats:
    """The mean of each square."""
    return pool_sum(matrix, level) / count_cells(matrix.shape[-2:], level).astype(matrix.dtype)


def pool_sum(matrix: Floats, level: int) -> Floats:
    """The sum of each square."""
    return _reduce(np.add, matrix, level)


def pool_max(matrix: Floats, level: int) -> Floats:
    """The largest of each square; weights are not negative, so zeros may fill up the partial ones."""
    return _reduce(np.maximum, matrix, level)


def pool_extreme(matrix: Floats, level: int) -> Floats:
    """The value of each square that is farthest from zero, with its sign."""
    largest, smallest = _reduce(np.maximum, matrix, level), _reduce(np.minimum, matrix, level)
    return np.where(largest >= -smallest, largest, smallest)


POOL_PEAKS = {"weights": pool_max, "signed": pool_extreme}  # by what a map holds


def _reduce(operation: np.ufunc, matrix: Floats, level: int) -> Floats:
    # A square larger than the matrix is the matrix: the side never asks for more room than there are cells.
    *others, rows, columns = matrix.shape
    down, across = (min(1 << level, max(1, length)) for length in (rows, columns))
    if down == across == 1:
        return matrix
    missing = (-rows % down, -columns % across)
    none = [(0, 0)] * len(others)
    whole = np.pad(matrix, [*none, (0, missing[0]), (0, missing[1])]) if any(missing) else matrix
    rows, columns = whole.shape[-2] // down, whole.shape[-1] // across
    # Rows first: adding whole rows is fast, and leaves little for the short sums along a row.
    strips = operation.reduce(whole.reshape(*others, rows, down, whole.shape[-1]), axis=-2)
    return operation.reduce(strips.reshape(*others, rows, columns, across), axis=-1)
