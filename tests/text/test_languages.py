"""Languages that a vocabulary names."""

import pytest

from glassformer.errors import InputError
from glassformer.text.builders import build_words
from glassformer.text.languages import find_language, list_languages
from glassformer.text.opening import open_tokenizer
from glassformer.weights.hub import ZOO


def test_the_translator_lists_its_languages() -> None:
    tokenizer = open_tokenizer(ZOO / "translator")
    assert list_languages(tokenizer) == ["de", "en", "fr", "zh"]
    assert find_language(tokenizer, "fr") == tokenizer.find(">>fr<<")
    with pytest.raises(InputError, match=r"'Deutsch'.*Choose one of: de, en, fr, zh"):
        find_language(tokenizer, "Deutsch")


def test_a_vocabulary_without_languages_wants_none() -> None:
    with pytest.raises(InputError, match="leave the language out"):
        find_language(build_words(["a"]), "fr")
    with pytest.raises(InputError, match="leave the language out"):
        find_language(None, "fr")


def test_half_a_character_is_no_language() -> None:
    with pytest.raises(InputError, match="half of a surrogate pair"):
        find_language(build_words(["a"]), "\udcff")
