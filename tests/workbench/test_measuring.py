"""Heads found by measuring, on maps where the answer is known."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from glassformer.messages import literal
from glassformer.place import Place
from glassformer.recording import AttentionMap, Evidence, Recording, Tokens, measure
from glassformer.workbench.measuring import Untrue, chance_of, find_head, find_word, i_love_you, others_of

EVIDENCE = Evidence("toy", "0" * 12, literal("explicit"), "float32", exact=True)


def make_tokens(side: Any, start: str, *words: str, space: str = " ") -> Tokens:
    """A special token, and words with nothing or a space between."""
    text, offsets = "", [[0, 0]]
    for word in words:
        text += (space if text else "") + word
        offsets.append([len(text) - len(word), len(text)])
    special = np.arange(len(words) + 1) == 0
    return Tokens(side, (start, *words), np.arange(len(words) + 1), np.array(offsets), text, special)


def translation(shift: int) -> Recording:
    """Two heads: a blurred one, and one that looks at the word being written (0) or entered (1)."""
    source, target = (
        make_tokens("source", ">>en<<", "我", "爱", "你", space=""),
        make_tokens("target", "<s>", "I", "love", "you"),
    )
    sharp = np.eye(4, k=1 - shift, dtype=np.float32)
    sharp[sharp.sum(axis=1) == 0, 0] = 1
    weights = np.stack([np.full((4, 4), 0.25, dtype=np.float32), 0.9 * sharp + 0.025])
    cross = AttentionMap(Place("decoder", "cross", 0), target, source, measure(weights), dense=weights)
    return Recording("toy", EVIDENCE, source, target, (cross,))


def test_a_head_is_found_by_the_words_it_writes() -> None:
    seen = find_head(translation(0), "decoder", "cross", ("I", "我"), ("love", "爱"), ("you", "你"))
    assert (seen.head, seen.percents, seen.heads) == (1, (92, 92, 92), 2)
    assert seen.select("lines") == {
        "view": "lines",
        "place": "decoder.cross.0",
        "head": "1",
        "query": "0",
        "key": "1",
    }


def test_a_note_that_is_no_longer_true_says_what_is_seen() -> None:
    found = i_love_you(translation(0), lambda _: translation(0))
    assert [found.parameters[name] for name in ("i", "love", "you")] == [92, 92, 92]
    with pytest.raises(
        Untrue, match=r"'I' should look most at '我' in decoder layer 0, cross, head 0.*it looks at"
    ):
        i_love_you(translation(1), lambda _: translation(1))


def test_a_head_that_always_looks_there_is_not_the_clearest() -> None:
    """Head 0 gives “animal” much from everywhere, head 1 less, but from “it” alone."""
    tokens = make_tokens("source", "[CLS]", "animal", "it", "was")
    weights = np.zeros((2, 4, 4), dtype=np.float32)
    weights[0, :, 1], weights[0, :, 0] = 0.8, 0.2
    weights[1, :, 0], weights[1, 2] = 1, [0.4, 0.6, 0, 0]
    own = AttentionMap(Place("encoder", "self", 0), tokens, tokens, measure(weights), dense=weights)
    recording = Recording("toy", EVIDENCE, tokens, maps=(own,))
    seen = find_head(recording, "encoder", "self", ("it", "animal"))
    assert (seen.head, seen.percents, others_of(seen)) == (1, (60,), 0)
    assert others_of(replace(seen, head=0)) == 80
    assert (chance_of(own), chance_of(own, "animal it")) == (25, 50)


def test_words_are_found_whole_and_last() -> None:
    tokens = make_tokens("source", "[CLS]", "its", "it", "a", "it", "[CLS]")
    assert find_word(tokens, "it") == [4]
    assert find_word(tokens, "[CLS]") == [0]  # the special one, not the text
    with pytest.raises(Untrue, match="'street' should be in 'its it a it"):
        find_word(tokens, "street")
