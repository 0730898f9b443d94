"""Entropy and divergence: uniform is log n, identity is 0, and both add up to log n."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.metrics import score
from glassformer.rounding import rounding
from tolerances import assert_near


def read(recording, name):
    return score(recording, name, over="model").value


@pytest.mark.parametrize("keys", [1, 2, 7, 100])
def test_an_even_spread_has_the_logarithm_of_its_keys(make_map, record, keys) -> None:
    recording = record(make_map(np.full((1, 1, keys), 1 / keys), kind="cross"))
    assert read(recording, "entropy") == pytest.approx(np.log(keys))
    assert read(recording, "uniform_divergence") == pytest.approx(0, abs=rounding(summands=16))


def test_the_identity_has_none(make_map, record) -> None:
    recording = record(make_map(np.eye(4)[None]))
    assert read(recording, "entropy") == 0
    assert read(recording, "entropy_share") == 0
    assert read(recording, "uniform_divergence") == pytest.approx(np.log(4))


def test_masked_keys_do_not_count(make_map, record) -> None:
    # An even spread over the two allowed keys of four is as even as can be.
    weights = np.array([[[0.5, 0.5, 0.0, 0.0]] * 4])
    allowed = np.array([[1, 1, 0, 0]] * 4, dtype=bool)
    recording = record(make_map(weights, allowed=allowed))
    assert read(recording, "entropy_share") == pytest.approx(1)
    assert read(recording, "uniform_divergence") == pytest.approx(0, abs=rounding(summands=16))


def test_a_share_is_of_the_maximum_of_all_rows(make_map, record) -> None:
    # Causal rows of 1, 2 and 4 keys can have 0, log 2 and log 4: (log 2 + 0) / (0 + log 2 + log 4) = 1/3.
    weights = [[[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 1.0, 0, 0]]]
    allowed = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1]], dtype=bool)
    found = score(record(make_map(weights, allowed=allowed)), "entropy_share")
    assert found.part().values == pytest.approx([1 / 3])


def test_one_key_leaves_the_share_undefined_and_says_why(make_map, record) -> None:
    found = score(record(make_map([[[1.0]]])), "entropy_share")
    assert np.isnan(found.part().values).all()
    assert "one key only" in " ".join(map(str, found.undefined))


def test_a_sink_is_one_more_place_to_look(make_map, record) -> None:
    recording = record(make_map([[[1 / 3, 1 / 3]]], sink=[[1 / 3]], kind="cross"))
    assert read(recording, "entropy") == pytest.approx(np.log(3))
    assert read(recording, "entropy_share") == pytest.approx(1)
    assert read(recording, "uniform_divergence") == pytest.approx(0, abs=rounding(summands=16))
    sunk = record(make_map([[[0.0, 0.5]]], sink=[[0.5]], kind="cross"))
    assert read(sunk, "entropy_share") == pytest.approx(np.log(2) / np.log(3))
    assert read(sunk, "uniform_divergence") == pytest.approx(np.log(3) - np.log(2))


def test_a_head_that_was_zeroed_has_no_entropy(make_map, record) -> None:
    weights = np.stack([np.zeros((2, 2)), np.full((2, 2), 0.5)])
    edited = record(make_map(weights, relaxed="head 0 set to zero"), edits=("head 0 set to zero",))
    for name in ("entropy", "uniform_divergence", "entropy_share", "distance"):
        found = score(edited, name)
        assert np.isnan(found.part().values).tolist() == [True, False], name
        assert any("edit" in str(reason) for reason in found.undefined), name
        assert all(reason.code.startswith("metrics.") for reason in found.undefined), name
    gone = record(make_map(np.zeros((1, 2, 2)), relaxed="zero"), edits=("zero",))
    assert "edit" in " ".join(map(str, score(gone, "entropy").undefined))


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 8), st.booleans(), st.data())
def test_ranges_permutation_and_sum(make_map, record, draw, seed, queries, keys, causal, data) -> None:
    weights, allowed = draw(seed, (2, queries, max(keys, queries)), causal)
    rows = np.array(data.draw(st.lists(st.booleans(), min_size=queries, max_size=queries)))
    rows[0] = True
    recording = record(make_map(weights, "statistics", allowed, rows))
    most = np.log(allowed.sum(axis=1))[rows]
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = -np.where(weights > 0, weights * np.log(weights), 0).sum(axis=-1)[:, rows]
    entropy = score(recording, "entropy").part().values
    divergence = score(recording, "uniform_divergence").part().values
    assert_near(entropy, expected.mean(axis=1), operations=1, summands=16)
    assert_near(entropy + divergence, most.mean(), operations=1, summands=16)
    assert (entropy <= most.mean() + rounding(summands=16)).all()
    if not causal:  # shuffled keys leave it as it was
        order = data.draw(st.permutations(range(weights.shape[2])))
        shuffled = record(make_map(weights[:, :, list(order)], "statistics", rows=rows))
        assert_near(score(shuffled, "entropy").part().values, entropy, operations=1, summands=16)
