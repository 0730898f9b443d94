"""Heads of two models: permuted ones are found again, random ones are not believed."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.comparison import match_heads
from glassformer.errors import InputError
from glassformer.recording import AttentionMap, Recording, measure

TEXTS = [
    ["the", "cat", "sat", "down"],
    ["a", "dog", "saw", "the", "old", "tree"],
    ["we", "read", "it", "again", "now"],
]


def permute(recording: Recording, order: np.ndarray) -> Recording:
    """The same heads in another order, across layers."""
    weights = np.concatenate([each.weights() for each in recording.maps])[order]
    layers = np.split(weights, len(recording.maps))
    return replace(
        recording,
        maps=tuple(
            AttentionMap(each.place, each.query, each.key, measure(values), values)
            for each, values in zip(recording.maps, layers, strict=True)
        ),
    )


def test_permuted_heads_are_matched_exactly(recorded) -> None:
    order = np.random.default_rng(3).permutation(6)
    recordings = [recorded(words, seed) for seed, words in enumerate(TEXTS)]
    matching = match_heads([(each, permute(each, order)) for each in recordings])
    for match in matching.matches:
        number, partner = (place.layer * 3 + head for place, head in match[:2])
        assert order[partner] == number
        assert match.similarity == pytest.approx(1)
        assert (match.stability, match.clear) == (1.0, True)
        assert match.confidence == pytest.approx(1)
        assert match.null < 0.5
        assert matching.partner(*match.first) == match.second
    assert "6 pairs, 6 of them clear" in str(matching)


def test_heads_that_share_nothing_are_not_believed(recorded) -> None:
    pairs = [(recorded(words, seed), recorded(words, seed + 10)) for seed, words in enumerate(TEXTS)]
    matching = match_heads(pairs)
    assert not any(match.clear for match in matching.matches)
    assert matching.confidence < 0.2


def test_similarity_is_one_minus_the_jensen_shannon_divergence(recorded) -> None:
    first, second = recorded(TEXTS[0], 0, layers=1, heads=1), recorded(TEXTS[0], 1, layers=1, heads=1)
    (match,) = match_heads([(first, second)]).matches
    one, other = (each.map().weights(0).astype(np.float64) for each in (first, second))
    middle = (one + other) / 2
    divergence = (one * np.log(one / middle) + other * np.log(other / middle)).sum(axis=-1).mean() / 2
    assert match.similarity == pytest.approx(1 - divergence / np.log(2), abs=1e-6)
    assert (match.stability, match.margin, match.confidence) == (None, 0.0, 0.0)  # nothing to compare with


def test_models_of_other_sizes_leave_heads_over(recorded) -> None:
    pairs = [(recorded(words, seed), recorded(words, seed, layers=1)) for seed, words in enumerate(TEXTS)]
    matching = match_heads(pairs)
    assert len(matching.matches) == 3
    assert len(matching.unmatched_first) == 3
    assert not matching.unmatched_second


def test_the_result_follows_from_the_seed(recorded) -> None:
    pairs = [(recorded(words, seed), recorded(words, seed + 1)) for seed, words in enumerate(TEXTS)]
    assert match_heads(pairs, seed=5).matches == match_heads(pairs, seed=5).matches


def test_a_text_without_a_common_word_is_left_out_and_not_counted(recorded) -> None:
    pairs = [(recorded(words, seed), recorded(words, seed + 1)) for seed, words in enumerate(TEXTS)]
    pairs.insert(1, (recorded(["one", "two"]), recorded(["three", "four"])))
    matching = match_heads(iter(pairs))
    assert matching.texts == 3
    assert [note.code for note in matching.notes] == ["comparison.uncompared"]
    assert matching.notes[0].parameters["count"] == 1
    assert "self-attention of 1 texts" in str(matching)
    with pytest.raises(InputError) as error:
        match_heads(pairs[1:2])
    assert error.value.message.code == "comparison.no_heads"


def test_no_texts_are_refused() -> None:
    with pytest.raises(InputError, match="No text"):
        match_heads([])
