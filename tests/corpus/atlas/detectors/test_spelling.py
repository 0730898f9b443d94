"""Pieces of words, brackets and quotation marks."""

import numpy as np

from glassformer.corpus.atlas.detector import DETECTORS
from text_views import find, view_text


def test_pieces_of_the_same_word() -> None:
    view = view_text("un ##be ##lievable news", words=[0, 0, 0, 1], causal=False)
    assert find("subword", view) == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]


def test_brackets_find_their_partners_where_another_could_be() -> None:
    assert find("bracket", view_text("( a ( b ) c ) )")) == [(6, 0)]  # of the inner one, the nearest is right
    assert find("bracket", view_text("( a ) ( b [ c ] d )")) == [(9, 3)]
    assert find("bracket", view_text("( a [ b ] c )")) == []  # no other mark is like the partner
    assert find("bracket", view_text("( a ) ( b ]")) == []


def test_a_mark_that_opens_and_closes_closes_if_it_can() -> None:
    assert find("quotation", view_text('" a " b " c ( d ) "')) == [(9, 4)]
    assert find("quotation", view_text("“ a “ b ” c ”")) == [(6, 0)]


def test_a_mark_alike_counts_only_where_the_nearest_alike_can_be_told_from_the_partner() -> None:
    assert find("quotation", view_text('" a ( b ) "')) == []
    _, alike = DETECTORS["quotation"].rivals(view_text('" a " b " c ( d ) "'))
    assert np.argwhere(alike).tolist() == [[4, 0], [4, 2]]
