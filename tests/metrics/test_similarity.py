"""Divergence between heads, and the clusters that follow from it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.errors import InputError
from glassformer.metrics import score
from glassformer.rounding import rounding
from tolerances import assert_near

LEFT, RIGHT, EVEN = [[1.0, 0.0]] * 2, [[0.0, 1.0]] * 2, [[0.5, 0.5]] * 2


def read(recording, **parameters):
    return score(recording, "head_divergence", **parameters).parts[0].values


def diverge(p: np.ndarray, q: np.ndarray) -> float:
    """The definition as a sum of two Kullback-Leibler divergences."""
    mean = (p + q) / 2
    terms = [row[row > 0] * np.log(row[row > 0] / mean[row > 0]) for row in (p, q)]
    return sum(term.sum() for term in terms) / 2


def test_divergences_on_paper(make_map, record) -> None:
    found = read(record(make_map([LEFT, LEFT, RIGHT, EVEN])))
    # JS(left, even): the mean is (3/4, 1/4), H = log 4 - 3/4 log 3; minus half of log 2.
    half = np.log(4) - 0.75 * np.log(3) - 0.5 * np.log(2)
    expected = [
        [0, 0, np.log(2), half],
        [0, 0, np.log(2), half],
        [np.log(2), np.log(2), 0, half],
        [half, half, half, 0],
    ]
    assert_near(found, expected, operations=1, summands=16)


def test_heads_are_compared_across_layers_and_named(make_map, record) -> None:
    found = score(record(make_map([LEFT]), make_map([RIGHT], layer=1)), "head_divergence")
    assert found.parts[0].labels[0] == ("encoder layer 0, self, head 0", "encoder layer 1, self, head 0")
    assert found.parts[0].values[0, 1] == pytest.approx(np.log(2), abs=rounding(summands=16))
    crossed = make_map([LEFT], kind="cross")
    assert len(score(record(make_map([LEFT]), crossed), "head_divergence").parts) == 2


def test_padded_rows_do_not_count_and_a_sink_does(make_map, record) -> None:
    padded = make_map([[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]], rows=[True, False])
    assert read(record(padded)).tolist() == [[0, 0], [0, 0]]
    sunk = make_map([[[1.0, 0.0]], [[0.0, 0.0]]], sink=[[0.0], [1.0]], kind="cross")
    assert read(record(sunk))[0, 1] == pytest.approx(np.log(2), abs=rounding(summands=16))


def test_what_cannot_be_compared_says_why(make_map, record) -> None:
    bare = score(record(make_map([LEFT], "statistics")), "head_divergence")
    assert np.isnan(bare.parts[0].values).all()
    assert "only statistics" in " ".join(map(str, bare.undefined))
    edited = record(make_map([np.zeros((2, 2)), LEFT], relaxed="zero"), edits=("zero",))
    found = score(edited, "head_divergence")
    assert np.isnan(found.parts[0].values).tolist() == [[True, True], [True, False]]
    assert "edit" in " ".join(map(str, found.undefined))
    assert np.isnan(score(edited, "head_clusters").part().values).tolist() == [True, False]
    idle = score(record(make_map([[[0.0]]], allowed=np.zeros((1, 1), dtype=bool))), "head_clusters")
    assert np.isnan(idle.part().values).all()


def test_too_much_work_is_refused_with_a_way_out(make_map, record, monkeypatch) -> None:
    monkeypatch.setattr("glassformer.metrics.similarity.MOST_LOGARITHMS", 5)
    recording = record(make_map([LEFT, RIGHT]))
    with pytest.raises(InputError, match="Compare fewer rows: rows=1"):
        score(recording, "head_divergence")
    monkeypatch.setattr("glassformer.metrics.similarity.MOST_LOGARITHMS", 6)
    assert read(recording, rows=1).shape == (2, 2)


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6), st.booleans())
def test_streamed_divergence_is_the_definition(make_map, record, draw, seed, queries, keys, causal) -> None:
    weights, allowed = draw(seed, (3, queries, max(queries, keys)), causal)
    expected = [
        [np.mean([diverge(weights[a, row], weights[b, row]) for row in range(queries)]) for a in range(3)]
        for b in range(3)
    ]
    for backing in ("dense", "factors"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("glassformer.metrics.similarity.BLOCK", 40)
            found = read(record(make_map(weights, backing, allowed)))
        assert_near(found, expected, operations=1, summands=16)
        assert (found == found.T).all()
        assert (np.diagonal(found) == 0).all()


def test_likes_share_a_cluster(make_map, record) -> None:
    recording = record(
        make_map([LEFT, RIGHT]), make_map([LEFT, EVEN], layer=1), make_map([LEFT], kind="cross")
    )
    found = score(recording, "head_clusters", clusters=2)
    assert [part.values.tolist() for part in found.parts] == [[0, 1], [0, 0], [2]]
    with pytest.raises(InputError, match="cannot be rolled up"):
        found.roll_up("layer")
