"""Pieces of words, brackets and quotation marks."""

from text_views import find, view_text


def test_pieces_of_the_same_word() -> None:
    view = view_text("un ##be ##lievable news", words=[0, 0, 0, 1], causal=False)
    assert find("subword", view) == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]


def test_brackets_find_their_partners() -> None:
    assert find("bracket", view_text("( a [ b ] c ) )")) == [(4, 2), (6, 0)]
    assert find("bracket", view_text("( a ]")) == []


def test_a_mark_that_opens_and_closes_closes_if_it_can() -> None:
    assert find("quotation", view_text('" a " b " c "')) == [(2, 0), (6, 4)]
    assert find("quotation", view_text("“ a ”")) == [(2, 0)]
