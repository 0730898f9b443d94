"""The patterns of fixed places."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.metrics import score
from glassformer.rounding import rounding
from tolerances import assert_near

PLACES = {"previous_token": -1, "self_token": 0, "next_token": 1}
CAUSAL = np.tri(4, dtype=bool)


def read(recording, name):
    return score(recording, name).part().values.tolist()


def shift(count: int, by: int) -> np.ndarray:
    """Every row looks `by` places away, going round."""
    return np.roll(np.eye(count), by, axis=1)


def test_each_pattern_finds_its_head_and_no_other(make_map, record) -> None:
    first = np.zeros((4, 4))
    first[:, 0] = 1
    recording = record(make_map(np.stack([shift(4, -1), np.eye(4), shift(4, 1), first])))
    assert read(recording, "previous_token") == [1, 0, 0, pytest.approx(1 / 3)]
    assert read(recording, "self_token") == [0, 1, 0, 1 / 4]
    assert read(recording, "next_token") == [0, 0, 1, 0]
    assert read(recording, "first_token") == [1 / 4, 1 / 4, 1 / 4, 1]


def test_a_row_without_a_choice_says_nothing(make_map, record) -> None:
    # Causal: row 0 must look at itself. The others spread evenly over 2, 3 and 4 keys.
    even = CAUSAL / CAUSAL.sum(axis=1, keepdims=True)
    recording = record(make_map(even[None], allowed=CAUSAL))
    mean = (1 / 2 + 1 / 3 + 1 / 4) / 3
    for name in ("previous_token", "self_token", "first_token"):
        assert read(recording, name) == pytest.approx([mean], abs=rounding(summands=16)), name
    assert read(recording, "next_token") == [0]
    alone = score(record(make_map([[[1.0]]])), "self_token")
    assert np.isnan(alone.part().values).all()
    assert "choice" in " ".join(map(str, alone.undefined))


def test_the_first_token_is_read_from_statistics_and_across_texts(make_map, record) -> None:
    crossed = make_map([[[0.75, 0.25], [0.25, 0.75]]], "statistics", kind="cross")
    assert score(record(crossed), "first_token").part(kind="cross").values == pytest.approx([0.5])


def test_a_row_that_must_look_elsewhere_takes_nothing_from_the_first(make_map, record) -> None:
    allowed = np.array([[0, 1], [1, 1]], dtype=bool)
    assert read(record(make_map([[[0.0, 1.0], [0.25, 0.75]]], allowed=allowed)), "first_token") == [0.25]


@pytest.mark.parametrize(
    "name", [*PLACES, "distance", "duplicate_token", "induction", "induction_on_repeats"]
)
def test_cross_attention_shares_no_positions(make_map, record, name) -> None:
    found = score(record(make_map(np.full((1, 2, 2), 0.5), kind="cross")), name)
    assert np.isnan(found.part(kind="cross").values).all()
    assert "another text" in " ".join(map(str, found.undefined))


def test_cached_queries_stand_at_the_end_of_the_keys(make_map, record) -> None:
    step = [[[0.0, 0.7, 0.3]]]  # one query at position 2
    for backing in ("dense", "factors"):
        recording = record(make_map(step, backing, offset=2))
        assert read(recording, "previous_token") == pytest.approx([0.7])
        assert read(recording, "self_token") == pytest.approx([0.3])
        assert read(recording, "distance") == pytest.approx([0.7])
    backwards = score(record(make_map([[[1.0], [1.0]]])), "self_token")
    assert "more queries than keys" in " ".join(map(str, backwards.undefined))


def test_padded_rows_are_left_out(make_map, record) -> None:
    recording = record(make_map(np.stack([np.eye(3)]), rows=[True, True, False]))
    assert read(recording, "self_token") == [1]
    assert score(recording, "self_token").part().counts.tolist() == [2]


@given(st.integers(0, 10**6), st.integers(2, 150), st.booleans(), st.sampled_from(sorted(PLACES)))
def test_a_streamed_diagonal_is_the_dense_one(make_map, record, draw, seed, count, causal, name) -> None:
    weights, allowed = draw(seed, (2, count, count), causal)
    place, skipped = PLACES[name], int(causal)  # causal: the first row has no choice
    rows = range(max(skipped, -place), min(count, count - place))
    expected = [[weights[head, row, row + place] for row in rows] for head in range(2)]
    for backing in ("dense", "factors"):
        found = read(record(make_map(weights, backing, allowed)), name)
        assert_near(found, np.mean(expected, axis=1) if len(rows) else np.nan, operations=1, summands=16)
