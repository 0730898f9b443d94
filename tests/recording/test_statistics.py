"""Statistics on maps one can compute on paper."""

from dataclasses import fields
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.errors import RecordingError
from glassformer.recording import HeadStatistics, Pyramid, measure, thumbnail_level
from tolerances import assert_near


def test_on_paper():
    weights = np.array([[[1.0, 0, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5]]])  # one causal head
    seen = measure(weights, np.tri(3, dtype=bool), threshold=0.3)
    assert_near(seen.entropy, [[0, log(2), 1.5 * log(2)]], operations=1, summands=16)
    np.testing.assert_allclose(seen.peak, [[1, 0.5, 0.5]])
    assert seen.peak_key.tolist() == [[0, 0, 2]]
    assert seen.above.tolist() == [[1, 2, 1]]
    np.testing.assert_allclose(seen.distance, [[0, 0.5, 0.75]])
    assert seen.allowed.tolist() == [[1, 2, 3]]
    np.testing.assert_allclose(seen.mass, [[1.75, 0.75, 0.5]])
    np.testing.assert_array_equal(seen.thumbnail_mean, weights)
    assert np.isnan(seen.log_sum_exp).all()
    assert (seen.heads, seen.queries, seen.keys, seen.level) == (1, 3, 3, 0)


def test_padded_rows_give_no_mass_and_a_sink_is_an_outcome():
    weights = np.full((1, 2, 2), 0.25)
    seen = measure(weights, rows=[True, False], sink_weights=np.full((1, 2), 0.5))
    np.testing.assert_allclose(seen.mass, [[0.25, 0.25]])
    assert_near(seen.entropy, 1.5 * log(2), operations=1, summands=16)  # of 1/4, 1/4, 1/2


def test_a_cached_row_knows_where_it_stands():
    seen = measure(np.array([[[0.75, 0, 0.25]]]), offset=2)
    np.testing.assert_allclose(seen.distance, [[1.5]])  # mostly two away, a little itself


def test_a_threshold_is_exceeded_not_reached():
    assert measure(np.full((1, 1, 100), 0.01)).above.tolist() == [[0]]


@given(st.integers(1, 5000), st.integers(1, 5000), st.sampled_from([16, 64, 256]))
def test_thumbnails_are_as_fine_as_fits(queries, keys, bins):
    level = thumbnail_level(queries, keys, bins)
    side = -(-max(queries, keys) // 2**level)
    assert side <= bins
    assert level == 0 or -(-max(queries, keys) // 2 ** (level - 1)) > bins


@given(st.integers(65, 140), st.integers(1, 140))
def test_thumbnails_keep_the_mass(queries, keys):
    weights = np.random.default_rng(queries).dirichlet(np.ones(keys), size=(1, queries))
    seen = measure(weights)
    side = 2**seen.level
    rows, columns = (np.diff(np.append(np.arange(0, length, side), length)) for length in (queries, keys))
    assert_near((seen.thumbnail_mean[0] * np.outer(rows, columns)).sum(), queries, operations=1, summands=16)
    assert_near(seen.thumbnail_max.max(), weights.max(), operations=1, summands=16)


def statistics_with(**changes):
    seen = measure(np.full((2, 3, 4), 0.25))
    return HeadStatistics(**({field.name: getattr(seen, field.name) for field in fields(seen)} | changes))


def test_one_mask_can_serve_all_heads():
    assert statistics_with(allowed=np.array([4, 4, 4])).allowed.tolist() == [[4, 4, 4]] * 2


def put(array, value):
    changed = np.array(array)
    changed[1, 2] = value
    return changed


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"entropy": np.zeros(3)}, r"entropy has shape \(3,\). Expected axes \(head, query\)"),
        ({"peak": np.zeros((2, 4))}, r"peak has shape \(2, 4\). Expected axes \(head 2, query 3\)"),
        ({"peak_key": np.zeros((2, 3))}, "peak_key holds float64"),
        ({"mass": np.zeros((1, 4))}, "mass has shape"),
        ({"allowed": np.array([4, 4])}, "allowed has shape"),
        ({"rows": np.ones(2, dtype=bool)}, "rows has shape"),
        ({"thumbnail_mean": np.zeros((2, 3, 3), np.float32)}, "thumbnail_max has shape"),
        (
            dict.fromkeys(("thumbnail_mean", "thumbnail_max"), np.zeros((2, 3, 3))),
            r"\(3, 3\) pixels.*, 4\)",
        ),
        ({"threshold": 1}, "threshold is 1"),
        ({"entropy": put(np.ones((2, 3)), np.nan)}, "entropy is nan in head 1, query 2.*NaN"),
        ({"entropy": put(np.ones((2, 3)), 1.7)}, "entropy is 1.7 in head 1, query 2"),
        ({"entropy": put(np.ones((2, 3)), -0.1)}, "entropy is -0.1"),
        ({"peak": put(np.ones((2, 3)), 1.1)}, "peak is 1.1"),
        ({"peak_key": put(np.zeros((2, 3), int), 4)}, "peak_key is 4 in head 1, query 2"),
        ({"above": put(np.zeros((2, 3), int), 5)}, "above is 5"),
        ({"allowed": put(np.full((2, 3), 4), 5)}, "allowed is 5.*0 … 4"),
    ],
)
def test_what_cannot_be_is_refused(changes, message):
    with pytest.raises(RecordingError, match=message):
        statistics_with(**changes)


def test_padded_rows_may_hold_anything():
    statistics_with(entropy=put(np.ones((2, 3)), np.nan), rows=np.array([True, True, False]))


@pytest.mark.parametrize(
    ("level", "shape", "message"),
    [(-1, (2, 2), "Pyramid.level is -1"), (2, (2, 3), r"Pyramid.maximum has shape \(2, 3\)")],
)
def test_a_pyramid_that_cannot_be(level, shape, message):
    with pytest.raises(RecordingError, match=message):
        Pyramid(level, np.zeros((2, 2)), np.zeros(shape))
