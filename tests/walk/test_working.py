"""One cell of a step: rows of arrays, heads that share keys, tokens along an axis."""

import numpy as np
import pytest

from glassformer.recording import Recording
from glassformer.walk import follow
from glassformer.walk.cells import find_step
from glassformer.walk.working import Cell


@pytest.fixture
def cell(full: Recording) -> Cell:
    plan, arrays = follow(full)
    return Cell(arrays, find_step(plan, "encoder.0.self.weights"), head=1, row=2, column=3)


def test_a_row_is_read_at_the_place_of_the_cell(cell: Cell, full: Recording) -> None:
    queries = full.trace["encoder/0/self/queries"]
    assert cell.vector("encoder/0/self/queries").dtype == np.float64
    np.testing.assert_array_equal(cell.vector("encoder/0/self/queries"), queries[1, 2])
    np.testing.assert_array_equal(cell.vector("encoder/0/self/queries", row=0), queries[1, 0])
    np.testing.assert_array_equal(cell.matrix("encoder/0/self/queries"), queries[1])
    assert cell.value("encoder/0/self/weights") == float(full.map("encoder").weights(1)[2, 3])


def test_the_page_is_told_what_was_read(cell: Cell) -> None:
    assert cell.read("encoder/0/self/queries", 2).model_dump() == {
        "name": "encoder/0/self/queries",
        "head": 1,
        "row": 2,
        "column": None,
    }
    assert cell.read("encoder/embedding/sum", 2).head is None


def test_probabilities_are_those_of_one_position(cell: Cell) -> None:
    cell.row = 1
    assert cell.vector("output/probabilities").sum() == pytest.approx(1, abs=1e-6)


def test_heads_may_share_keys(cell: Cell) -> None:
    assert cell._share(np.zeros((1, 4, 8))) == 0  # two heads, one key head
    assert cell._share(np.zeros((2, 4, 8))) == 1


def test_tokens_are_made_visible(cell: Cell) -> None:
    assert len(cell.texts("source")) == 4
    assert cell.texts("target") == ["2", "6", "10"]  # a network without a vocabulary has ids
