"""Marked texts: shuffled words stay whole, constructed texts say what they mean."""

from itertools import pairwise

import numpy as np
import pytest

from glassformer.corpus.atlas.texts import (
    MarkedText,
    as_marked,
    from_sentence,
    place_marks,
    repeat_tokens,
    shuffle,
    tell_tales,
)
from glassformer.errors import InputError
from glassformer.metrics.gold import AlignedPair, Sentence, Word
from glassformer.recording import Tokens


def test_words_move_as_a_whole_and_special_tokens_stay() -> None:
    special = np.array([True, False, False, False, False, False, True])
    tokens = Tokens("source", tuple("[abcde]"), np.arange(7), special=special)
    groups = np.array([-1, 0, 0, 1, 2, 2, -1])
    orders = set()
    for seed in range(20):
        ids, slots = shuffle(tokens, groups, np.random.default_rng(seed))
        assert sorted(ids) == list(range(7))
        assert (ids[0], ids[-1]) == (0, 6)
        assert {(1, 2), (4, 5)} <= set(pairwise(ids.tolist()))  # pieces of a word stay together
        assert slots[0] == slots[-1] == -1
        assert np.unique(slots[1:-1]).tolist() == [0, 1, 2]
        assert slots[1:-1].tolist() == sorted(slots[1:-1])
        orders.add(tuple(ids))
    assert len(orders) == 6


def test_pronouns_mean_the_person_of_their_gender_in_either_place() -> None:
    tales = tell_tales()
    assert sum(tale.held_out for tale in tales) * 2 == len(tales)
    first = 0
    for tale in tales:
        (start, end), (later, last) = tale.mentions[0]
        name, pronoun = tale.text[start:end], tale.text[later:last]
        assert (name in ("Mary", "Anna", "Sarah")) == (pronoun == "she")
        first += start == 0
    assert first * 2 == len(tales)


def test_sequences_are_read_twice() -> None:
    text = repeat_tokens(range(10, 90), [1], [2], count=3, length=8, seed=0)[2].text
    assert (text[0], text[-1]) == (1, 2)
    assert text[1:9] == text[9:17]
    assert len(set(text[1:9])) == 8


def test_marks_open_and_close() -> None:
    for each in place_marks():
        assert each.text.count("(") == each.text.count(")")
        assert each.text.count('"') % 2 == 0


def test_the_printed_text_of_a_tree_is_read_where_it_fits() -> None:
    words = (Word("do", "AUX", 1, "aux"), Word("n't", "PART", -1, "root"))
    assert from_sentence(Sentence("a", "don't", words)).text == "don't"
    assert from_sentence(Sentence("a", "du not", words)).text == "do n't"


def test_texts_come_in_several_forms() -> None:
    pair = AlignedPair(("le", "chat"), ("the", "cat"), frozenset({(0, 0)}), frozenset())
    marked = as_marked(["a", ("a", "b"), pair, MarkedText("c")])
    assert [(each.text, each.target) for each in marked] == [
        ("a", None),
        ("a", "b"),
        ("le chat", "the cat"),
        ("c", None),
    ]
    with pytest.raises(InputError, match="not a text"):
        as_marked([("a", "b", "c")])
