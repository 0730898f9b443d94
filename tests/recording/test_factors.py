"""Weights computed from queries and keys are those of a plain softmax, whatever the mask."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.errors import RecordingError
from glassformer.recording import Factors
from glassformer.recording.factors import find_reach
from tolerances import assert_near


def test_weights_and_scores_equal_the_dense_ones(make, kind):
    for queries, keys in ((24, 24), (1, 24), (20, 33)):
        example = make(kind, queries, keys)
        map_ = example.map("factors")
        assert_near(map_.weights(), example.weights, operations=1, summands=16)
        scores = map_.scores()
        np.testing.assert_array_equal(np.isinf(scores), np.isinf(example.scores))
        visible = np.isfinite(scores)
        assert_near(scores[visible], example.scores[visible], operations=1, summands=16)


@given(
    name=st.sampled_from(["causal", "windowed", "relative", "everything"]),
    ends=st.tuples(*[st.integers(0, 24)] * 4),
    head=st.integers(0, 3),
)
def test_any_rectangle_is_a_part_of_the_whole(make, name, ends, head):
    example = make(name)
    rows, columns = slice(*sorted(ends[:2])), slice(*sorted(ends[2:]))
    part = example.map("factors").weights(head, rows, columns)
    whole = example.map("dense").weights(head, rows, columns)
    assert part.shape == whole.shape == (rows.stop - rows.start, columns.stop - columns.start)
    assert part.dtype == np.float32
    assert_near(part, whole, operations=1, summands=16)


def test_rows_and_sink_sum_to_one(make):
    example = make("sink")
    map_ = example.map("factors", sink_weights=None)  # computed from the logits
    assert_near(map_.sink_weights, example.sink_weights, operations=1, summands=16)
    assert_near(map_.weights().sum(-1) + map_.sink_weights, 1, operations=1, summands=16)


def test_reach_is_exactly_where_something_is_allowed(make, kind):
    example = make(kind, 24, 30)
    position_only = example.allowed | ~_key_mask(example)[None, :]
    for start in range(0, 24, 5):
        rows = slice(start, min(start + 5, 24))
        reach = example.factors.reach(rows)
        seen = np.flatnonzero(position_only[rows].any(axis=0))
        if len(seen) and _key_mask(example).all():
            assert (reach.start, reach.stop) == (seen[0], seen[-1] + 1)
        outside = np.ones(30, dtype=bool)
        outside[reach] = False
        assert not example.allowed[rows][:, outside].any()


def test_a_row_that_may_look_nowhere_has_no_weight(make):
    example = make("full", 4, 4)
    bias = np.zeros((1, 4, 4), dtype=np.float32)
    bias[0, 2] = -np.inf
    lse = example.log_sum_exp.copy()
    lse[:, 2] = -np.inf
    factors = Factors(example.factors.queries, example.factors.keys, lse, 0.5, bias=bias)
    np.testing.assert_array_equal(factors.weights(0, slice(2, 3), slice(0, 4)), 0)


def test_half_precision_queries_are_kept_as_they_are(make):
    factors = make("full").factors
    halves = Factors(
        factors.queries.astype(np.float16), factors.keys.astype(np.float16), factors.log_sum_exp, 0.5
    )
    assert halves.queries.dtype == np.float16
    assert halves.weights(0, slice(0, 2), slice(0, 2)).dtype == np.float32


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"keys": np.zeros((4, 24, 7), np.float32)}, r"keys has shape \(4, 24, 7\).*width 8"),
        ({"keys": np.zeros((3, 24, 8), np.float32)}, "4 heads and 3 key heads"),
        ({"log_sum_exp": np.zeros((4, 23))}, r"log_sum_exp has shape \(4, 23\).*query 24"),
        ({"bias": np.zeros((2, 24, 24), np.float32)}, r"Factors.bias is \(2, 24, 24\)"),
        ({"distance_bias": np.zeros((4, 24), np.float32)}, "distance_bias has shape"),
        ({"key_mask": np.ones(23, bool)}, "key_mask has shape"),
        ({"key_mask": np.ones(24)}, "key_mask holds float64 values.*Expected bool"),
        ({"sink": np.zeros(3, np.float32)}, "sink has shape"),
        ({"scale": float("nan")}, "scale is nan.*finite number"),
        ({"softcap": 0.0}, "softcap is 0.0"),
        ({"window": 0}, "window is 0"),
        ({"offset": 1.5}, "offset is 1.5"),
    ],
)
def test_what_cannot_be_is_refused(make, changes, message):
    example = make("full")
    parts = {
        "queries": example.factors.queries, "keys": example.factors.keys,
        "log_sum_exp": example.log_sum_exp, "scale": 0.5,
    }  # fmt: skip
    with pytest.raises(RecordingError, match=message):
        Factors(**(parts | changes))


def _key_mask(example):
    mask = example.factors.key_mask
    return np.ones(example.factors.shape[2], dtype=bool) if mask is None else mask


def test_only_keys_within_mask_and_window_are_reached():
    assert find_reach(slice(10, 20), 100, causal=False, window=3, offset=0) == slice(8, 22)
    assert find_reach(slice(10, 20), 100, causal=True, window=3, offset=5) == slice(13, 25)
    assert find_reach(slice(10, 20), 8, causal=False, window=1, offset=0) == slice(8, 8)
