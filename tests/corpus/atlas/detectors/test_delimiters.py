"""Resting places."""

from glassformer.corpus.atlas.detector import DETECTORS
from text_views import find, view_text


def keys(family: str, texts: str, special: tuple[int, ...] = ()) -> set[int]:
    return {key for _, key in find(family, view_text(texts, special=special))}


def test_punctuation_and_special_tokens_but_the_first() -> None:
    assert keys("delimiter", "[CLS] a , b 。 [SEP]", special=(0, 5)) == {2, 4, 5}


def test_a_language_tag_is_no_delimiter() -> None:
    assert keys("language_tag", "a >>fr<< b", special=(1,)) == {1}
    assert keys("delimiter", "a >>fr<< b", special=(1,)) == set()
    assert keys("language_tag", "a >>fr<< b") == set()  # somebody wrote it


def test_a_sink_may_be_any_key() -> None:
    assert DETECTORS["sink"].unit == "column"
    assert keys("sink", "a b c") == {0, 1, 2}
