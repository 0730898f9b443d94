"""Pictures that we draw ourselves, in code: examples for networks that look.

In:   nothing.
Out:  pixels (row, column) or (row, column, 3) in bytes. Edges are smooth: what is drawn is averaged from a
      picture eight times as large.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

FINER = 8
Pixels = NDArray[np.uint8]
Place = tuple[float, float]  # right, down


def draw_seven() -> Pixels:
    """The digit 7 in two strokes, light on dark, 28 × 28."""
    drawn = np.zeros((28 * FINER, 28 * FINER))
    for stroke in ([(8.0, 7.5), (19.5, 7.0), (13.0, 21.5)], [(10.5, 14.0), (18.5, 14.0)]):
        drawn = np.maximum(drawn, 255.0 * _is_near(drawn.shape, stroke, 1.3))
    return _shrink(drawn)


def draw_face() -> Pixels:
    """A yellow face with eyes and a smile on white, 72 × 72."""
    size = 72 * FINER
    drawn = np.full((size, size, 3), 255.0)
    drawn[_is_near((size, size), [(36.0, 36.0)] * 2, 34.0)] = (250, 200, 60)
    dark = (90, 60, 10)
    for right in (24.0, 48.0):
        drawn[_is_near((size, size), [(right, 24.0), (right, 29.0)], 4.5)] = dark
    angles = np.linspace(0.15 * np.pi, 0.85 * np.pi, 24)
    smile = [(36 + 20 * float(np.cos(angle)), 36 + 20 * float(np.sin(angle))) for angle in angles]
    drawn[_is_near((size, size), smile, 2.2)] = dark
    return _shrink(drawn)


def _is_near(shape: tuple[int, ...], stroke: Sequence[Place], radius: float) -> NDArray[np.bool_]:
    """Where a pen of this radius leaves ink that is drawn from place to place."""
    down, right = (np.indices(shape[:2]) + 0.5) / FINER
    inked = np.zeros(shape[:2], bool)
    for (left, top), (to_right, to_down) in pairwise(stroke):
        along, across = to_right - left, to_down - top
        length = along**2 + across**2
        share = ((right - left) * along + (down - top) * across) / length if length else np.zeros(shape[:2])
        share = share.clip(0, 1)
        inked |= (right - left - share * along) ** 2 + (down - top - share * across) ** 2 <= radius**2
    return inked


def _shrink(drawn: NDArray[np.float64]) -> Pixels:
    rows, columns = drawn.shape[0] // FINER, drawn.shape[1] // FINER
    means = drawn.reshape(rows, FINER, columns, FINER, -1).mean(axis=(1, 3))
    return np.round(means).astype(np.uint8)[..., 0] if drawn.ndim == 2 else np.round(means).astype(np.uint8)
