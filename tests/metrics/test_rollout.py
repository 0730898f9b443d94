"""Rollout through stacks whose answers can be multiplied out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.errors import GlassformerError, InputError
from glassformer.metrics import score
from tolerances import assert_near

SWAP = np.array([[[0.0, 1.0], [1.0, 0.0]]])


def test_rollout_on_paper(make_map, record) -> None:
    # One swap mixed with the residual is half and half; a second leaves it so.
    found = score(record(make_map(SWAP), make_map(SWAP, layer=1)), "rollout")
    assert found.part().values.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert found.part(layer=1).values.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    quarter = score(record(make_map(SWAP), make_map(SWAP, layer=1)), "rollout", residual=0.25)
    # (1/4 I + 3/4 S)^2 = (1/16 + 9/16) I + 6/16 S
    np.testing.assert_allclose(quarter.part(layer=1).values, [[0.625, 0.375], [0.375, 0.625]])
    assert score(record(make_map(SWAP)), "rollout", residual=1.0).part().values.tolist() == [[1, 0], [0, 1]]


def test_rollout_averages_heads_and_keeps_stacks_apart(make_map, record) -> None:
    both = make_map(np.concatenate([SWAP, np.eye(2)[None]]), stack="decoder")
    found = score(record(make_map(SWAP), both, make_map(SWAP, kind="cross")), "rollout")
    assert len(found.parts) == 2
    assert found.part("decoder").values.tolist() == [[0.75, 0.25], [0.25, 0.75]]
    assert found.part("encoder").labels == (("0", "1"),) * 2


def test_padded_rows_stay_where_they_are(make_map, record) -> None:
    weights = np.array([[[1.0, 0.0], [0.0, 0.0]]])
    allowed = np.array([[1, 0], [0, 0]], dtype=bool)
    found = score(record(make_map(weights, allowed=allowed, rows=[True, False])), "rollout")
    assert found.part().values[0].tolist() == [1, 0]
    assert np.isnan(found.part().values[1]).all()
    assert "Padded" in " ".join(map(str, found.undefined))


def test_a_row_that_looks_nowhere_stays_where_it_is(make_map, record) -> None:
    allowed = np.array([[0, 0], [1, 1]], dtype=bool)
    idle = record(make_map([[[0.0, 0.0], [0.5, 0.5]]], allowed=allowed))
    assert score(idle, "rollout", residual=0.0).part().values.tolist() == [[1, 0], [0.5, 0.5]]


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 4), st.booleans())
def test_rollout_rows_sum_to_one(make_map, record, draw, seed, count, layers, causal) -> None:
    made = [draw(seed + layer, (2, count, count), causal) for layer in range(layers)]
    maps = [make_map(weights, allowed=allowed, layer=layer) for layer, (weights, allowed) in enumerate(made)]
    expected = np.eye(count)
    for weights, _ in made:
        expected = (0.5 * weights.mean(axis=0) + 0.5 * np.eye(count)) @ expected
    found = score(record(*maps), "rollout").part(layer=layers - 1).values
    assert_near(found, expected, operations=1, summands=16)
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_a_sink_is_normalised_away(make_map, record) -> None:
    sunk = make_map([[[0.0, 0.5], [0.5, 0.0]]], sink=[[0.5, 0.5]])
    found = score(record(sunk), "rollout").part().values
    np.testing.assert_allclose(found, [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])


def test_gaps_odd_shapes_and_long_texts_are_refused(make_map, record, monkeypatch) -> None:
    with pytest.raises(InputError, match="Layers 0, 2 of the encoder were recorded"):
        score(record(make_map(SWAP), make_map(SWAP, layer=2)), "rollout")
    with pytest.raises(InputError, match=r"1 x 2 tokens\. Expected square"):
        score(record(make_map([[[0.5, 0.5]]])), "rollout")
    with pytest.raises(InputError, match="no whole self-attention"):
        score(record(make_map(SWAP, kind="cross")), "flow")
    with pytest.raises(GlassformerError, match="only statistics"):
        score(record(make_map(SWAP, "statistics")), "rollout")
    monkeypatch.setattr("glassformer.metrics.rollout.MOST_TOKENS", 1)
    with pytest.raises(InputError, match=r"2 tokens\. Expected at most 1"):
        score(record(make_map(SWAP)), "rollout")
