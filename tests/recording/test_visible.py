"""Tokens for the eye: nothing invisible stays so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.recording.visible import make_excerpt, make_visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" love", "␣love"),
        ("a b", "a b"),
        ("  ", "␣␣"),
        ("", "∅"),
        ("\n\n", "⏎⏎"),
        ("x\t", "x⇥"),
        ("汤姆", "汤姆"),
        ("שלום", "שלום"),
        ("👩‍👩‍👧", "👩‍👩‍👧"),
        ("a\u202eb", "a‹U+202E›b"),
        ("\u200d", "‹U+200D›"),
        ("\x00", "‹U+0000›"),
        ("\ud800", "‹U+D800›"),
    ],
)
def test_what_cannot_be_seen_is_marked(text: str, shown: str) -> None:
    assert make_visible(text) == shown


@given(st.text(st.characters(blacklist_categories=()), max_size=20))
def test_any_text_can_be_shown_and_sent(text: str) -> None:
    shown = make_visible(text)
    assert shown.isprintable() or "\u200c" in shown or "\u200d" in shown or not set(shown) & set("\n\r\t\x00")
    assert shown.encode()
    assert make_excerpt(text, 10).encode() is not None


def test_an_excerpt_is_one_line() -> None:
    assert make_excerpt("a\n b   c", 20) == "a b c"
    assert make_excerpt("word " * 40, 20) == "word word word word …"
    assert len(make_excerpt("x" * 500, 20)) == 22
