"""An attention map: what it has, what it gives, what it refuses."""

import numpy as np
import pytest

from glassformer.errors import RecordingError
from glassformer.recording import Pyramid, Tokens
from glassformer.recording.attention_map import MOST_BYTES
from tolerances import assert_near


def test_it_knows_what_it_has(make):
    example = make("causal")
    dense, backed, bare = (example.map(backing) for backing in ("dense", "factors", "none"))
    assert dense.shape == backed.shape == (4, 24, 24)
    assert (dense.has_weights, dense.has_scores) == (True, False)
    assert (backed.has_weights, backed.has_scores) == (True, True)
    assert (bare.has_weights, bare.has_scores) == (False, False)
    assert repr(backed) == "AttentionMap(decoder layer 0, self: 4 heads, 24 x 24, factors)"
    assert np.shares_memory(backed.queries, example.factors.queries)  # there to look at, not copied
    assert backed.scale == 0.5


def test_a_dense_map_gives_views(make):
    map_ = make("causal").map("dense")
    part = map_.weights(2, slice(3, 5), slice(0, 4))
    assert np.shares_memory(part, map_.dense)
    with pytest.raises(ValueError, match="read-only"):
        part[0, 0] = 1


def test_scores_can_be_kept_densely(make):
    example = make("soft-capped")
    map_ = example.map("dense", dense_scores=example.scores)
    assert_near(map_.scores(1), example.map("factors").scores(1), operations=1, summands=16)


def test_what_was_not_kept_cannot_be_asked_for(make):
    example = make("causal")
    with pytest.raises(RecordingError, match=r"kept no weights, only statistics.*'weights' in want="):
        example.map("none").weights(0)
    with pytest.raises(RecordingError, match=r"kept no scores.*'scores' in want="):
        example.map("dense").scores(0)


def test_too_much_at_once_is_refused_with_its_size(make, monkeypatch):
    map_ = make("causal").map("factors")
    assert MOST_BYTES == 2**30
    monkeypatch.setattr("glassformer.recording.attention_map.MOST_BYTES", 4 * 24 * 24)
    assert map_.weights(0).shape == (24, 24)
    with pytest.raises(RecordingError, match=r"GiB, \(4, 24, 24\).*or for a tile"):
        map_.weights()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((4,), "no head 4 in decoder layer 0, self. Expected 0 to 3"),
        ((-1,), "no head -1"),
        ((0, slice(0, 25)), "query slice is"),
        ((0, None, slice(5, 4)), "key slice is"),
        ((0, slice(0, 9, 2)), "no step"),
        ((0, slice(-2, None)), "query slice is"),
        ((0, 3), "query slice is 3"),
        ((0, None, slice("a", None)), "key slice is"),
    ],
)
@pytest.mark.parametrize("backing", ["dense", "factors"])
def test_a_rectangle_that_is_not_there(make, backing, arguments, message):
    with pytest.raises(RecordingError, match=message):
        make("causal").map(backing).weights(*arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stack": ""}, "Place.stack is ''"),
        ({"layer": -1}, "Place.layer is -1"),
        ({"layer": True}, "Place.layer is True"),
        ({"kind": "both"}, "Place.kind is 'both'"),
        ({"step": -1}, "Place.step is -1"),
        ({"dtype": None}, "AttentionMap.dtype is None"),
        ({"query": ("a", "b")}, "Expected Tokens"),
        ({"query": Tokens.positional("source", 23)}, "are of 24 queries and 24 keys. Expected 23 and 24"),
        ({"dense": np.zeros((4, 24, 23))}, r"dense has shape \(4, 24, 23\)"),
        ({"dense_scores": np.zeros((3, 24, 24))}, "dense_scores has shape"),
        ({"values": np.zeros((4, 23, 8))}, "values has shape"),
        ({"queries": np.zeros((3, 24, 8))}, "queries has shape"),
        ({"sink_weights": np.zeros((4, 23))}, "sink_weights has shape"),
        ({"scale": float("inf")}, "AttentionMap.scale is inf"),
        ({"pyramids": {0: Pyramid(2, np.zeros((5, 6)), np.zeros((5, 6)))}}, r"Expected \(6, 6\)"),
        ({"pyramids": {4: Pyramid(2, np.zeros((6, 6)), np.zeros((6, 6)))}}, "no head 4"),
        ({"relaxed": ""}, "AttentionMap.relaxed is"),
    ],
)
def test_what_cannot_be_is_refused(make, changes, message):
    with pytest.raises(RecordingError, match=message):
        make("causal").map("dense", **changes)


def test_factors_of_another_shape(make):
    with pytest.raises(RecordingError, match=r"AttentionMap.factors is \(4, 20, 24\)"):
        make("causal").map("none", factors=make("causal", 20, 24).factors)
