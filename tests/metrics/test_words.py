"""Words instead of sub-words: arithmetic on paper, masks found again, tokens matched with given words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.errors import GlassformerError, InputError
from glassformer.metrics import score
from glassformer.metrics.masks import find_allowed
from glassformer.metrics.words import (
    find_spans,
    find_words,
    join_tokens,
    match_words,
    roll_up_head,
    roll_up_map,
    roll_up_recording,
    roll_up_words,
)
from glassformer.recording import Recording
from glassformer.recording.axes import name_rows
from inventions import invent_evidence
from tolerances import assert_near

TEXT = "play ing well"
PIECES = ["[CLS]", "play", "ing", "well"]  # "playing" was cut in two
SPANS = np.array([[0, 0], [0, 4], [5, 8], [9, 13]])
WORDS = np.array([-1, 0, 0, 1])


@pytest.fixture(scope="module")
def text(tokens):
    special = np.array([True, False, False, False])
    return tokens("source", PIECES, offsets=SPANS, text=TEXT, special=special, words=WORDS)


def test_keys_are_added_and_queries_averaged() -> None:
    weights = np.array([[0.1, 0.2, 0.7], [0.4, 0.4, 0.2], [0.0, 0.5, 0.5]])
    groups = np.array([0, 0, 1])
    np.testing.assert_allclose(roll_up_words(weights, groups, groups), [[0.55, 0.45], [0.5, 0.5]])
    left_out = np.array([-1, 0, 1])
    np.testing.assert_allclose(roll_up_words(weights, groups, left_out), [[0.3, 0.45], [0.5, 0.5]])
    padded = roll_up_words(weights, groups, groups, np.array([True, False, True]))
    np.testing.assert_allclose(padded[0], [0.3, 0.7])


def test_a_word_is_a_run_and_a_special_token_stands_alone(tokens) -> None:
    pair = tokens("source", list("abcdefg"), words=np.array([-1, -1, 0, 0, 1, 0, 0]))
    assert find_words(pair).tolist() == [0, 1, 2, 2, 3, 4, 4]  # a second text starts from 0 again
    with pytest.raises(InputError, match="do not say which words"):
        find_words(tokens("source", ["a"]))


def test_joined_tokens_keep_text_and_places(text, tokens) -> None:
    joined = join_tokens(text, find_words(text))
    assert joined.texts == ("[CLS]", "play ing", "well")
    assert joined.offsets.tolist() == [[0, 0], [0, 8], [9, 13]]
    assert joined.special.tolist() == [True, False, False]
    bare = tokens("source", ["re", "do", " redo"], words=np.array([0, 0, 1]))
    again = join_tokens(bare, find_words(bare))
    assert again.texts == ("redo", " redo")
    assert again.ids[0] == again.ids[1]


@pytest.mark.parametrize("backing", ["dense", "factors"])
def test_a_map_of_words_is_a_map(make_map, record, draw, text, backing) -> None:
    weights, allowed = draw(3, (2, 4, 4), causal=True)
    words = roll_up_map(make_map(weights, backing, allowed, query=text, key=text))
    assert words.shape == (2, 3, 3)
    groups = np.array([0, 1, 1, 2])
    expected = [roll_up_words(head, groups, groups) for head in weights]
    assert_near(words.weights(), expected, operations=1, summands=16)
    assert words.statistics.allowed.tolist() == [[1, 2, 3]] * 2  # causal between words as well
    recording = roll_up_recording(record(make_map(weights, backing, allowed, query=text, key=text)))
    assert recording.source.texts == ("[CLS]", "play ing", "well")
    assert tuple(map(str, recording.evidence.notes)) == ("sub-words rolled up to words",)
    assert score(recording, "previous_token").part().values.shape == (2,)


def test_padding_and_sinks_are_rolled_up(make_map, text) -> None:
    weights = np.array([[[0.5, 0.0, 0.0, 0.0], [0.2, 0.2, 0.2, 0.0], [0.1, 0.1, 0.6, 0.0], [0.0] * 4]])
    sink = np.array([[0.5, 0.4, 0.2, 0.0]])
    allowed = np.array([[1, 0, 0, 0], [1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0]], dtype=bool)
    words = roll_up_map(
        make_map(weights, allowed=allowed, sink=sink, rows=[True, True, True, False], query=text, key=text)
    )
    assert_near(words.weights(0)[1], [0.15, 0.55, 0.0], operations=1, summands=16)
    assert_near(words.sink_weights[0, :2], [0.5, 0.3], operations=1, summands=16)
    assert words.statistics.rows.tolist() == [True, True, False]


def test_a_token_that_may_look_nowhere_does_not_thin_its_word(make_map, text) -> None:
    weights = np.array([[[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1.0]]])
    allowed = np.array([[1] * 4, [1] * 4, [0] * 4, [1] * 4], dtype=bool)
    words = roll_up_map(make_map(weights, allowed=allowed, query=text, key=text))
    assert words.weights(0)[1].tolist() == [0.5, 0.5, 0.0]


def test_rows_of_cross_attention_are_grouped_by_the_word_they_write(make_map, tokens) -> None:
    """<s> writes rou, rou writes ge, ge writes the end: the word is written in the first two rows."""
    query = tokens(
        "target", ["<s>", "rou", "ge"], special=np.array([True, False, False]), words=np.array([-1, 0, 0])
    )
    key = tokens("source", ["red", "car"], words=np.array([0, 1]))
    weights = np.array([[[1.0, 0.0], [0.8, 0.2], [0.0, 1.0]]])
    rolled = roll_up_map(make_map(weights, kind="cross", query=query, key=key))
    assert rolled.weights(0) == pytest.approx(np.array([[0.9, 0.1], [0.0, 1.0]]))
    assert len(rolled.query) == 2
    whole = Recording("toy", invent_evidence(), rolled.key, rolled.query, (rolled,))
    assert name_rows(whole, rolled).texts == ("rouge", "…")


def test_cross_maps_have_words_of_their_own(make_map, tokens, text) -> None:
    query = tokens("target", ["oui"], words=np.array([0]))
    words = roll_up_map(make_map([[[0.1, 0.2, 0.3, 0.4]]], kind="cross", query=query, key=text))
    assert_near(words.weights(0), [[0.1, 0.5, 0.4]], operations=1, summands=16)


def test_what_cannot_be_rolled_up_is_refused(make_map, text, monkeypatch) -> None:
    with pytest.raises(GlassformerError, match="only statistics"):
        roll_up_map(make_map(np.eye(4)[None], "statistics", query=text, key=text))
    monkeypatch.setattr("glassformer.metrics.words.MOST_TOKENS", 3)
    with pytest.raises(InputError, match=r"4 tokens\. Expected at most 3"):
        roll_up_map(make_map(np.eye(4)[None], query=text, key=text))


@given(st.integers(0, 10**6), st.lists(st.integers(-1, 3), min_size=1, max_size=9), st.booleans())
def test_rolling_up_in_blocks_is_the_same(make_map, draw, seed, marks, causal) -> None:
    groups = np.cumsum(np.maximum(np.diff(marks, prepend=0), 0))
    groups = np.where(np.array(marks) < 0, -1, groups)
    weights, allowed = draw(seed, (1, len(marks), len(marks)), causal)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("glassformer.metrics.blocks.BLOCK", 2 * len(marks))
        found = roll_up_head(make_map(weights, allowed=allowed), 0, groups, groups)
    assert_near(found, roll_up_words(weights[0], groups, groups), operations=1, summands=16)
    if (groups >= 0).all():
        used = np.unique(groups)
        assert_near(found[used].sum(axis=1), 1, operations=1, summands=16)


def test_masks_are_found_again(make_map) -> None:
    causal = np.tri(3, dtype=bool)
    even = causal / causal.sum(axis=1, keepdims=True)
    assert (find_allowed(make_map(even[None], allowed=causal), 0) == causal).all()
    assert (find_allowed(make_map(even[None], "factors", allowed=causal), 0) == causal).all()
    # Zeros that are weights, not masks: the number of allowed keys tells.
    assert find_allowed(make_map(np.eye(3)[None]), 0).all()
    assert (find_allowed(make_map(np.eye(3)[None], allowed=causal), 0) == causal).all()
    padded = np.array([[1, 1, 0]] * 3, dtype=bool)
    weights = np.array([[[1.0, 0, 0], [0, 1.0, 0], [0.5, 0.5, 0]]])
    assert (find_allowed(make_map(weights, allowed=padded), 0) == padded).all()
    idle = np.array([[1, 1, 1], [1, 1, 1], [0, 0, 0]], dtype=bool)
    assert (find_allowed(make_map(np.diag([1.0, 1.0, 0.0])[None], allowed=idle), 0) == idle).all()
    # Weights too small for single precision are zero, but scores know.
    odd = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]], dtype=bool)
    tiny = np.where(np.eye(3, dtype=bool), 1.0, 1e-80 * odd)
    assert (find_allowed(make_map(tiny[None], "factors", allowed=odd), 0) == odd).all()
    turned = np.tri(3, dtype=bool)[:, ::-1]  # as many keys as a causal mask, but others
    with pytest.raises(InputError, match="does not follow from its weights"):
        find_allowed(make_map(np.eye(3)[None, :, ::-1], allowed=turned), 0)
    with pytest.raises(InputError, match="does not follow from its weights"):
        find_allowed(make_map(np.eye(3)[None], allowed=odd), 0)


def test_tokens_are_matched_with_given_words(text, tokens) -> None:
    assert match_words(text, ["play", "ing", "well"]).tolist() == [-1, 0, 1, 2]
    # Offsets with a space in front, as some tokenizers give them, and a word cut in two.
    spaced = tokens(
        "source",
        ["do", "n't", " g", "o"],
        offsets=np.array([[0, 2], [2, 5], [5, 7], [7, 8]]),
        text="don't go",
    )
    assert match_words(spaced, ["do", "n't", "go"]).tolist() == [0, 1, 2, 2]
    with pytest.raises(InputError, match=r"Word 1 \('b'\) of the source text has no token"):
        match_words(tokens("source", ["a"], offsets=np.array([[0, 1]]), text="a b"), ["a", "b"])
    with pytest.raises(InputError, match="do not say where"):
        match_words(tokens("source", ["a"]), ["a"])


def test_words_must_be_those_of_the_text() -> None:
    assert find_spans(["I", "'m", "in"], " I'm  in ") == ((1, 2), (2, 4), (6, 8))
    with pytest.raises(InputError, match=r"Word 1 \('b'\) is not next in the text: 'c'"):
        find_spans(["a", "b"], "a c")
    with pytest.raises(InputError, match="the text goes on: 'c'"):
        find_spans(["a"], "a c")
