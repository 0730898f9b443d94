"""Which tokens belong together: the same, replaced, cut differently, left out; and refusals."""

from dataclasses import replace

import pytest

from glassformer.comparison import align
from glassformer.errors import InputError


def test_the_same_tokens_are_paired_one_by_one(tokens_of) -> None:
    tokens = tokens_of(["[CLS]", "the", "cat", "[SEP]"])
    found = align(tokens, tokens)
    assert found.identical
    assert found.tokens is tokens
    assert not found.only_first + found.only_second + found.replaced


def test_a_minimal_pair_is_paired_in_place(tokens_of) -> None:
    found = align(tokens_of(["[CLS]", "the", "cat", "sat"]), tokens_of(["[CLS]", "the", "dog", "sat"]))
    assert found.by == "tokens"
    assert found.identical
    assert found.replaced == (2,)
    assert found.tokens.texts == ("[CLS]", "the", "cat/dog", "sat")
    assert "cat/dog" in str(found)


def test_texts_of_other_lengths_are_aligned_by_words(tokens_of) -> None:
    first = tokens_of(["[CLS]", "the", "cat", "sat", "[SEP]"])
    second = tokens_of(["[CLS]", "the", "um", "##brel", "##la", "sat", "[SEP]"])
    found = align(first, second)
    assert found.by == "words"
    assert [(pair.first, pair.second, pair.why) for pair in found.pairs] == [
        ((0,), (0,), "same"),
        ((1,), (1,), "same"),
        ((2,), (2, 3, 4), "replaced"),
        ((3,), (5,), "same"),
        ((4,), (6,), "same"),
    ]
    assert found.tokens.texts[2] == "cat/umbrella"
    assert [group.tolist() for group in found.groups] == [[0, 1, 2, 3, 4], [0, 1, 2, 2, 2, 3, 4]]


def test_what_has_no_partner_is_left_out_and_named(tokens_of) -> None:
    first, second = tokens_of(["the", "old", "black", "cat", "sat"]), tokens_of(["the", "cat", "sat", "down"])
    found = align(first, second)
    assert [first.texts[place] for place in found.only_first] == ["old", "black"]
    assert [second.texts[place] for place in found.only_second] == ["down"]
    assert found.groups[0].tolist() == [0, -1, -1, 1, 2]
    for name in ("old (1)", "black (2)", "down (3)"):
        assert name in str(found)
    for language in ("en", "zh"):
        assert all(part.text(language) for part in found.evidence)


def test_as_many_words_replace_as_many_and_no_others(tokens_of) -> None:
    found = align(tokens_of(["the", "cat", "sat"]), tokens_of(["the", "old", "dog", "sat"]))
    assert len(found.pairs) == 2
    assert (found.only_first, found.only_second) == ((1,), (1, 2))


def test_one_text_cut_by_two_tokenisers_is_aligned_by_characters(tokens_of) -> None:
    first = tokens_of(["[CLS]", "un", "##believ", "##able", "cats"])
    second = tokens_of(["unbe", "##liev", "##able", "cat", "##s"])
    assert first.text == second.text
    found = align(first, second)
    assert found.by == "characters"
    assert [(pair.first, pair.second) for pair in found.pairs] == [
        ((1, 2), (0, 1)),
        ((3,), (2,)),
        ((4,), (3, 4)),
    ]
    assert found.only_first == (0,)  # [CLS], which the other tokeniser has not
    assert found.tokens.texts == ("unbeliev", "##able", "cats")


def test_texts_without_a_common_word_are_refused(tokens_of) -> None:
    with pytest.raises(InputError) as error:
        align(tokens_of(["[CLS]", "the", "cat"]), tokens_of(["[CLS]", "one", "dog"]))
    assert error.value.message.code == "comparison.nothing_in_common"


def test_without_words_tokens_without_a_partner_are_left_out(tokens_of) -> None:
    first, second = (replace(tokens_of(each), words=None) for each in (["a", "b", "c"], ["a", "c"]))
    found = align(first, second)
    assert (found.by, found.only_first) == ("tokens", (1,))


def test_capital_letters_make_another_word_where_one_model_reads_both(tokens_of) -> None:
    first, second = tokens_of(["[CLS]", "The", "men", "left"]), tokens_of(["[CLS]", "the", "men", "left"])
    assert align(first, second).replaced == ()  # of two models: one may read small letters alone
    alignment = align(first, second, one_model=True)
    assert alignment.replaced == (1,)
    assert alignment.tokens.texts == ("[CLS]", "The/the", "men", "left")
    shouted = align(tokens_of(["THE", "MEN"]), tokens_of(["the", "men"]), one_model=True)
    assert shouted.replaced == (0, 1)
    longer = align(first, tokens_of(["[CLS]", "the", "two", "men", "le", "##ft"]), one_model=True)
    assert longer.by == "words"
    assert longer.tokens.texts[1] == "The/the"
