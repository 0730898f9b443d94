"""Scores of one text by hand: weight on wanted keys, favourites between words, chance and baselines."""

import numpy as np

from glassformer.corpus.atlas.measuring import (
    Slots,
    find_aims,
    find_favourites,
    find_visible,
    group_words,
    guess,
    measure,
)
from glassformer.corpus.atlas.texts import MarkedText
from glassformer.metrics.gold import Sentence, Word
from glassformer.recording import from_arrays
from text_views import make_tokens, view_text
from tolerances import assert_near

WORDS = (Word("cats", "NOUN", 1, "nsubj"), Word("eat", "VERB", -1, "root"), Word("fish", "NOUN", 1, "obj"))
TREE = MarkedText("cats eat fish", tree=Sentence("one", "cats eat fish", WORDS))
WEIGHTS = np.array([[[1, 0, 0], [0.75, 0.25, 0], [0.5, 0.25, 0.25]]], dtype=np.float32)


def aim_of(view, name):
    return next(aim for aim in find_aims(view) if aim.name == name)


def test_weights_on_wanted_keys_are_averaged_over_rows_that_have_a_choice() -> None:
    view = view_text("a b c")
    aims = list(find_aims(view))
    found = measure(WEIGHTS, aims, view.query_words, view.key_words)
    assert_near(found["previous_token"], [(0.75 + 0.25) / 2])
    assert_near(found["first_token"], [(0.75 + 0.5) / 2])
    assert_near(found["sink"], [(0.75 + 0.5) / 2])
    assert_near(aim_of(view, "previous_token").chance, (1 / 2 + 1 / 3) / 2)


def test_favourites_are_other_words() -> None:
    view = view_text("cats eat fish", TREE)
    aim = aim_of(view, "governor:obj")
    assert measure(WEIGHTS, [aim], view.query_words, view.key_words)["governor:obj"].tolist() == [0.0]
    swapped = WEIGHTS[:, :, [1, 0, 2]]
    assert measure(swapped, [aim], view.query_words, view.key_words)["governor:obj"].tolist() == [1.0]
    assert guess(aim) == {-1: 1.0}


def test_what_a_causal_mask_hides_is_not_counted() -> None:
    words = (
        Word("so", "ADV", 2, "advmod"),
        Word("cats", "NOUN", 2, "nsubj"),
        Word("eat", "VERB", -1, "root"),
    )
    tree = Sentence("two", "so cats eat fish", (*words, Word("fish", "NOUN", 2, "obj")))
    names = {aim.name for aim in find_aims(view_text(tree.text, MarkedText(tree.text, tree=tree)))}
    assert "dependent:nsubj" in names
    assert "dependent:obj" not in names  # the object comes later


def test_pieces_of_a_word_are_one_word() -> None:
    weights = np.array([[[0, 0.4, 0.3, 0.3]] * 4], dtype=np.float32)
    groups = np.array([0, 1, 2, 2])
    assert find_favourites(weights, groups, groups, (3, 3), within=True).tolist() == [[2, 2, 1]]


def test_slots_of_cross_attention_are_those_of_what_is_written() -> None:
    slots = Slots(np.array([0, 1]), np.array([-1, 0, 1]))
    view = view_text("a b")
    assert slots.of(view)[0].tolist() == [0, 1]


def test_masks_are_recognised() -> None:
    maps = list(from_arrays(WEIGHTS[None], list("abc")).maps)
    assert find_visible(maps).tolist() == np.tri(3, dtype=bool).tolist()
    full = list(from_arrays(np.full((1, 1, 2, 2), 0.5), list("ab")).maps)
    assert find_visible(full).all()


def test_words_are_those_of_the_tree_or_of_the_tokenizer() -> None:
    tokens = make_tokens("[CLS] cats eat fi ##sh", special=(0,), words=[-1, 0, 1, 2, 2])
    assert group_words(tokens, MarkedText("")).tolist() == [-1, 0, 1, 2, 2]
    plain = make_tokens("cats eat fish")
    assert group_words(plain, TREE).tolist() == [0, 1, 2]
