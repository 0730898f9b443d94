"""Sums, means, maxima and extremes over squares, partial ones included."""

import numpy as np
import pytest

from glassformer.recording.pooling import (
    count_cells,
    count_pixels,
    pool_extreme,
    pool_max,
    pool_mean,
    pool_sum,
)

MATRIX = np.array([[1.0, 2.0, -9.0], [3.0, 4.0, 5.0]])


@pytest.mark.parametrize(
    ("tokens", "level", "pixels"), [(0, 3, 0), (1, 3, 1), (8, 3, 1), (9, 3, 2), (9, 0, 9)]
)
def test_pixels_cover_all_tokens(tokens: int, level: int, pixels: int) -> None:
    assert count_pixels(tokens, level) == pixels


def test_a_square_at_the_edge_counts_the_cells_it_has() -> None:
    assert count_cells((2, 3), 1).tolist() == [[4, 2]]
    assert pool_sum(MATRIX, 1).tolist() == [[10, -4]]
    assert pool_mean(MATRIX, 1).tolist() == [[2.5, -2]]


def test_extremes_keep_their_sign() -> None:
    assert pool_max(MATRIX, 1).tolist() == [[4, 5]]
    assert pool_extreme(MATRIX, 1).tolist() == [[4, -9]]


def test_level_zero_changes_nothing_and_a_high_one_is_the_whole() -> None:
    for pool in (pool_sum, pool_max, pool_extreme):
        np.testing.assert_array_equal(pool(MATRIX, 0), MATRIX)
    assert pool_sum(MATRIX, 40).tolist() == [[6]]
