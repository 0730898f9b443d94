"""Fixed distances and positions."""

import numpy as np

from glassformer.corpus.atlas.detector import View
from glassformer.corpus.atlas.texts import MarkedText
from text_views import find, make_tokens, view_text

VIEW = view_text("a b c d")


def test_distances() -> None:
    assert find("previous_token", VIEW) == [(1, 0), (2, 1), (3, 2)]
    assert find("next_token", VIEW) == []  # hidden
    assert find("next_token", view_text("a b", causal=False)) == [(0, 1)]
    assert find("same_token", VIEW) == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert find("offset", VIEW, "-3") == [(3, 0)]
    assert find("window", VIEW, "±2") == [pair for pair in np.ndindex(4, 4) if 0 <= pair[0] - pair[1] <= 2]


def test_the_first_token() -> None:
    assert find("first_token", VIEW) == [(0, 0), (1, 0), (2, 0), (3, 0)]


def test_the_diagonal_of_another_text_leaves_out_special_tokens() -> None:
    query, key = make_tokens("a b </s>", "target", special=(2,)), make_tokens(">>fr<< a b c d", special=(0,))
    none = np.arange(0)
    view = View("cross", query, key, np.ones((3, 5), dtype=bool), none, none, MarkedText("a"))
    assert find("diagonal", view) == [(0, 2), (1, 4)]
