"""Counts of weights above a threshold, on paper and by properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.metrics import score
from glassformer.metrics.blocks import row_blocks
from glassformer.rounding import rounding

# Row 0: three above 0.01 of three allowed keys. Row 1: one of four. Row 2: two of four, one just at 0.01.
WEIGHTS = [[[0.5, 0.3, 0.2, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.01, 0.5, 0.49]]]
ALLOWED = np.array([[1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1]], dtype=bool)


def read(recording, name, over="model", **parameters):
    return score(recording, name, over=over, **parameters).value


def test_the_four_numbers_on_paper(make_map, record) -> None:
    recording = record(make_map(WEIGHTS, allowed=ALLOWED))
    ratio = score(recording, "overall_sparsity")
    assert (ratio.part().totals, ratio.part().counts) == ([6], [5])  # "6 : 5"
    assert ratio.part().values == pytest.approx([6 / 5])
    assert read(recording, "nonzero_share") == pytest.approx(6 / 11)
    assert read(recording, "average_nonzero") == pytest.approx(2)
    assert read(recording, "maximum_nonzero") == 3


def test_another_threshold_is_counted_from_the_weights(make_map, record) -> None:
    recording = record(make_map(WEIGHTS, allowed=ALLOWED))
    assert read(recording, "average_nonzero", threshold=0.3) == pytest.approx(4 / 3)
    assert read(recording, "average_nonzero", threshold=0.0) == pytest.approx(7 / 3)
    bare = record(make_map(WEIGHTS, backing="statistics", allowed=ALLOWED))
    assert read(bare, "average_nonzero") == pytest.approx(2)  # the recorded threshold needs no weights
    found = score(bare, "average_nonzero", threshold=0.3)
    assert np.isnan(found.part().values).all()
    assert "Record again with 'weights'" in " ".join(map(str, found.undefined))


def test_a_threshold_relative_to_an_even_spread(make_map, record) -> None:
    even = record(make_map(np.full((1, 2, 200), 1 / 200), kind="cross"))
    assert read(even, "nonzero_share") == 0  # 1/200 is under 0.01
    assert read(even, "nonzero_share", threshold=0.5, relative=True) == 1
    assert read(even, "nonzero_share", threshold=1.0, relative=True) == 0  # 1/n is not greater than 1/n
    # n is the number of allowed keys: in row 0 above 1/3, in the others above 1/4.
    recording = record(make_map(WEIGHTS, allowed=ALLOWED))
    rows = score(recording, "average_nonzero", over="query", threshold=1.0, relative=True)
    assert rows.part().values.tolist() == [[1, 1, 2]]


def test_padded_rows_and_rows_without_keys_are_left_out(make_map, record) -> None:
    weights = np.array([[[0.5, 0.5, 0.0], [0.0, 0.0, 0.0], [0.2, 0.4, 0.4]]])
    allowed = np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1]], dtype=bool)
    recording = record(make_map(weights, allowed=allowed, rows=[True, True, False]))
    assert read(recording, "average_nonzero") == 2
    assert read(recording, "average_nonzero", threshold=0.001) == 2
    assert read(recording, "maximum_nonzero") == 2
    assert read(recording, "nonzero_share") == 1


def test_no_zero_leaves_the_ratio_undefined_and_says_why(make_map, record) -> None:
    found = score(record(make_map(np.full((1, 2, 2), 0.5))), "overall_sparsity")
    assert np.isnan(found.part().values).all()
    assert "No allowed weight is zero" in " ".join(map(str, found.undefined))
    # A row without zeros still adds its non-zeros to the head's: 3 : 1.
    mixed = score(record(make_map([[[0.5, 0.5], [1.0, 0.0]]])), "overall_sparsity")
    assert mixed.part().values == pytest.approx([3.0])


def test_the_largest_of_a_model_is_the_largest_of_its_rows(make_map, record) -> None:
    wide, narrow = make_map(np.full((2, 3, 3), 1 / 3)), make_map(np.eye(3)[None], layer=1)
    found = score(record(wide, narrow), "maximum_nonzero")
    assert [part.values.tolist() for part in found.parts] == [[3, 3], [1]]
    assert found.roll_up("model").value == 3


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 9), st.booleans(), st.floats(0, 0.5))
def test_counts_are_those_of_the_dense_map(make_map, record, draw, seed, queries, keys, causal, cut) -> None:
    weights, allowed = draw(seed, (2, queries, max(keys, queries)), causal)
    expected = (weights.astype(np.float32) > np.float32(cut)).sum(axis=-1)
    for backing in ("dense", "factors"):
        recording = record(make_map(weights, backing, allowed, factors={"causal": False}))
        counts = score(recording, "average_nonzero", over="query", threshold=cut).part().values
        off = np.abs(weights - cut).min(axis=-1) < rounding(summands=16)  # within rounding of the threshold
        assert (off | (counts == expected)).all()
        share = read(recording, "nonzero_share", threshold=cut)
        assert 0 <= share <= 1


def test_long_maps_are_read_in_blocks(make_map, monkeypatch) -> None:
    monkeypatch.setattr("glassformer.metrics.blocks.BLOCK", 8)
    assert list(row_blocks(make_map(np.full((1, 3, 4), 0.25), kind="cross"))) == [
        (slice(0, 2), slice(0, 4)),
        (slice(2, 3), slice(0, 4)),
    ]
    causal = make_map(np.eye(4)[None], "factors", np.tri(4, dtype=bool), factors={"causal": True})
    assert list(row_blocks(causal)) == [(slice(0, 2), slice(0, 2)), (slice(2, 4), slice(0, 4))]
