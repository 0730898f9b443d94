"""Flow: small networks on paper, and the narrowest cut of any."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.errors import InputError
from glassformer.metrics import score
from glassformer.metrics.flow import find_flow
from tolerances import assert_near

SWAP = np.array([[[0.0, 1.0], [1.0, 0.0]]])


def test_flow_on_paper(make_map, record) -> None:
    # Through one layer, the pipe itself. Through two swaps, half goes each of two ways, to either token.
    one = score(record(make_map(SWAP)), "flow")
    assert one.part().values.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    two = score(record(make_map(SWAP), make_map(SWAP, layer=1)), "flow")
    assert two.part(layer=1).values.tolist() == [[1, 1], [1, 1]]
    single = score(record(make_map(SWAP), make_map(SWAP, layer=1)), "flow", query=1)
    assert single.part(layer=1).values.tolist() == [[1, 1]]
    assert single.part(layer=1).labels[0] == ("1",)


def test_flow_turns_back_where_a_first_path_was_a_mistake() -> None:
    # 0 feeds nodes 0 and 1; node 0 reaches both below, node 1 only the first: a greedy path must be undone.
    top = np.array([[0.5, 0.5], [0.0, 1.0]])
    middle = np.array([[0.5, 0.5], [0.5, 0.0]])
    bottom = np.array([[0.5, 0.0], [0.5, 0.0]])
    assert find_flow([bottom, middle, top], 0, 0) == pytest.approx(1.0)


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 3))
def test_flow_is_the_narrowest_cut(seed, count, layers) -> None:
    # Max-flow min-cut: the least width over all ways to part the source from the target.
    random = np.random.default_rng(seed)
    pipes = [random.random((count, count)) * (random.random((count, count)) < 0.7) for _ in range(layers)]
    inner = (layers - 1) * count
    narrowest = np.inf
    for sides in product([False, True], repeat=inner):  # True: on the source's side
        nodes = np.zeros((layers + 1, count), dtype=bool)
        nodes[1:layers] = np.reshape(sides, (layers - 1, count))
        nodes[layers, 0] = True
        nodes[0, :] = True  # other tokens of the input lead nowhere
        nodes[0, 0] = False
        width = sum(
            pipes[layer][i, j]
            for layer in range(layers)
            for i, j in product(range(count), repeat=2)
            if nodes[layer + 1, i] and not nodes[layer, j]
        )
        narrowest = min(narrowest, width)
    assert_near(find_flow(pipes, 0, 0), narrowest, dtype="float64")


def test_flow_refuses_what_would_take_too_long(make_map, record, monkeypatch) -> None:
    recording = record(make_map(SWAP))
    with pytest.raises(InputError, match=r"Token 2 was asked for\. Expected 0 to 1"):
        score(recording, "flow", query=2)
    monkeypatch.setattr("glassformer.metrics.flow.MOST_WORK", 8)
    with pytest.raises(InputError, match=r"takes 16 operations\. Expected at most 8\. Choose one"):
        score(recording, "flow")
    assert score(recording, "flow", query=0).part().values.tolist() == [[0.5, 0.5]]


def test_padded_tokens_have_no_flow(make_map, record) -> None:
    found = score(record(make_map(SWAP, rows=[True, False])), "flow")
    assert np.isnan(found.part().values).tolist() == [[False, False], [True, True]]
    assert "Padded" in " ".join(map(str, found.undefined))
