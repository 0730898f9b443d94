"""Average linkage on distances that can be joined by hand."""

import numpy as np
import pytest

from glassformer.metrics.linkage import cut, link


def test_average_linkage_on_paper() -> None:
    # 0 and 1 are 1 apart, 2 and 3 are 2 apart; between the pairs 4, 6, 8 and 10: 7 on average.
    distances = np.array([[0, 1, 4, 6], [1, 0, 8, 10], [4, 8, 0, 2], [6, 10, 2, 0]], dtype=float)
    merges = link(distances)
    assert [tuple(merge) for merge in merges] == [(0, 1, 1.0, 2), (2, 3, 2.0, 2), (4, 5, 7.0, 4)]
    assert cut(merges, 1).tolist() == [0, 0, 0, 0]
    assert cut(merges, 2).tolist() == [0, 0, 1, 1]
    assert cut(merges, 3).tolist() == [0, 0, 1, 2]
    assert cut(merges, 4).tolist() == [0, 1, 2, 3]


def test_average_linkage_weighs_every_leaf_once() -> None:
    # {0, 1} joins 2 first; then leaf 3 is (9 + 9 + 3) / 3 = 7 from the three.
    distances = np.array([[0, 1, 2, 9], [1, 0, 2, 9], [2, 2, 0, 3], [9, 9, 3, 0]], dtype=float)
    assert link(distances)[-1].distance == pytest.approx(7)
