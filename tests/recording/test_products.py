"""Products in small blocks are the products of whole matrices."""

import numpy as np
import pytest

from glassformer.recording.products import BLOCK, arrange_keys, multiply
from tolerances import assert_near


@pytest.mark.parametrize("keys", [0, 1, BLOCK, BLOCK + 1, 3 * BLOCK])
@pytest.mark.parametrize("queries", [1, BLOCK - 1, BLOCK, 2 * BLOCK + 5])
def test_blocks_of_any_number_of_queries_and_keys(queries: int, keys: int) -> None:
    random = np.random.default_rng(0)
    left, right = random.normal(size=(queries, 7)), random.normal(size=(keys, 7))
    arranged = arrange_keys(right, np.float64)
    assert arranged.shape == (-(-keys // BLOCK), 7, BLOCK)
    found = multiply(left, arranged)
    assert_near(found[:, :keys], left @ right.T, operations=1, summands=7, dtype="float64")
    assert not found[:, keys:].any()  # zeros after the last key
