"""Tokens that occur again, and what followed them."""

from glassformer.corpus.atlas.texts import MarkedText
from text_views import find, view_text

PROBE = MarkedText("", probe="repeats")


def test_the_same_token_earlier() -> None:
    assert find("duplicate", view_text("a b a a")) == [(2, 0), (3, 0), (3, 2)]
    assert find("duplicate", view_text("a b a", special=(0, 2))) == []


def test_what_followed_the_same_token() -> None:
    assert find("induction", view_text("a b c a b", PROBE)) == [(3, 1), (4, 2)]
    assert find("induction", view_text("a a b", PROBE)) == []  # the successor is the query itself


def test_induction_is_measured_on_random_tokens_only() -> None:
    assert find("induction", view_text("a b c a b")) == []
