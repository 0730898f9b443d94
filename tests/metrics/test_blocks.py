"""How metrics read maps: in blocks, along diagonals, without padding."""

import numpy as np
import pytest

from glassformer.metrics import UndefinedError, blocks
from tolerances import assert_near


@pytest.mark.parametrize("backing", ["dense", "factors"])
def test_blocks_cover_every_weight_once(make_map, draw, monkeypatch, backing) -> None:
    weights, allowed = draw(0, (2, 9, 9), causal=True)
    each = make_map(weights, backing, allowed, factors={"causal": True})
    monkeypatch.setattr(blocks, "BLOCK", 2 * 9)  # two rows at once
    total = np.zeros(9)
    for rows, keys in blocks.row_blocks(each):
        assert rows.stop - rows.start <= 2
        total[rows] += each.weights(0, rows, keys).sum(axis=1)
    assert_near(total, 1, operations=1, summands=16)


@pytest.mark.parametrize("backing", ["dense", "factors"])
@pytest.mark.parametrize("shift", [-1, 0, 2])
def test_a_diagonal_is_read_where_there_is_one(make_map, draw, monkeypatch, backing, shift) -> None:
    weights, _ = draw(1, (2, 7, 7))
    monkeypatch.setattr(blocks, "DIAGONAL", 3)
    found, inside = blocks.read_diagonal(make_map(weights, backing), shift)
    rows = [row for row in range(7) if 0 <= row + shift < 7]
    assert np.flatnonzero(inside).tolist() == rows
    for row in rows:
        assert_near(found[:, row], weights[:, row, row + shift], operations=1, summands=16)


def test_cached_keys_stand_before_the_queries(make_map) -> None:
    assert blocks.find_offset(make_map(np.full((1, 2, 5), 0.2))) == 3
    with pytest.raises(UndefinedError):
        blocks.find_offset(make_map(np.full((1, 3, 2), 0.5)))
    with pytest.raises(UndefinedError):
        blocks.find_offset(make_map(np.full((1, 2, 2), 0.5), kind="cross"))


def test_padding_is_no_key(make_map) -> None:
    padded = make_map(np.full((1, 2, 2), 0.5), rows=np.array([True, False]))
    assert blocks.find_real_keys(padded).tolist() == [True, False]
    assert blocks.read_diagonal(padded, 1)[1].tolist() == [False, False]


def test_heads_that_were_edited_do_not_sum_to_one(make_map) -> None:
    weights = np.stack([np.zeros((2, 2)), np.full((2, 2), 0.5)])
    assert blocks.find_whole_heads(make_map(weights, relaxed="zeroed")).tolist() == [False, True]
    sink = make_map(np.full((1, 2, 2), 0.25), sink=[[0.5, 0.5]], relaxed="nothing changed")
    assert blocks.find_whole_heads(sink).tolist() == [True]


@pytest.mark.parametrize("backing", ["dense", "factors"])
def test_rows_need_not_be_neighbours(make_map, draw, backing) -> None:
    weights, _ = draw(2, (2, 6, 4))
    rows = blocks.read_rows(make_map(weights, backing, kind="cross"), np.array([0, 5]))
    assert_near(rows, weights[:, [0, 5]], operations=1, summands=16)
