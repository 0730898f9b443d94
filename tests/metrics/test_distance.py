"""How far a head looks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.metrics import score
from tolerances import assert_near


def read(recording, name):
    return score(recording, name).part().values


def test_distance_on_paper(make_map, record) -> None:
    # Rows look 0, 1 and half 1, half 2 tokens away.
    weights = [[[1.0, 0, 0], [1.0, 0, 0], [0.5, 0.5, 0]]]
    assert read(record(make_map(weights)), "distance") == pytest.approx([(0 + 1 + 1.5) / 3])
    # What goes to a sink has no distance: of what goes to keys, all looks one token back.
    sunk = make_map([[[0.0, 1.0], [0.5, 0.0]]], sink=[[0.0, 0.5]])
    assert read(record(sunk), "distance") == pytest.approx([1.0])


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(0, 4), st.booleans())
def test_distance_is_the_weighted_sum(make_map, record, draw, seed, queries, offset, causal) -> None:
    weights, allowed = draw(seed, (2, queries, queries + offset), causal)
    far = np.abs(np.arange(queries)[:, None] + offset - np.arange(queries + offset))
    recording = record(make_map(weights, "statistics", allowed, offset=offset))
    assert_near(read(recording, "distance"), (weights * far).sum(-1).mean(-1), operations=1, summands=16)
