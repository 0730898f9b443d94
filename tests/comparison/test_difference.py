"""Differences of recordings: every number is a subtraction, and nothing is dropped silently."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import glassformer as gf
from glassformer.comparison import HeadMatching, Match, difference
from glassformer.errors import BundleError, InputError
from glassformer.metrics import score
from glassformer.place import Place
from glassformer.recording import DifferenceMap, tile
from glassformer.recording.axes import is_causal
from tolerances import assert_near

WORDS = ["[CLS]", "the", "cat", "sat", "[SEP]"]


def test_every_value_is_a_subtraction(recorded) -> None:
    first, second = recorded(WORDS, 0), recorded(WORDS, 1)
    found = difference(first, second)
    for one, other, both in zip(first.maps, second.maps, found.recording.maps, strict=True):
        assert (both.content, both.place) == ("signed", one.place)
        np.testing.assert_array_equal(both.weights(), one.weights() - other.weights())
        thumbnail = one.statistics.thumbnail_mean - other.statistics.thumbnail_mean
        assert_near(both.statistics.thumbnail_mean, thumbnail)
    states = first.hidden["encoder"] - second.hidden["encoder"]
    np.testing.assert_array_equal(found.recording.hidden["encoder"], states)
    edge = found.largest(1)[0]
    assert abs(edge.value) == max(np.abs(each.weights()).max() for each in found.recording.maps)
    assert edge.value == found.recording.map(edge.place).weights()[edge.head, edge.query, edge.key]
    assert str(found).count("looks at") == 8


def test_a_recording_minus_itself_is_nothing(recorded) -> None:
    recording = recorded(WORDS)
    found = difference(recording, recording)
    assert all(not each.weights().any() for each in found.recording.maps)
    assert "looks at" not in str(found)
    assert found.recording.evidence.exact


def test_words_receive_sums_and_look_on_average(recorded) -> None:
    first, second = recorded(WORDS, 0), recorded(["[CLS]", "the", "um", "##brella", "sat", "[SEP]"], 1)
    found = difference(first, second)
    values = found.recording.map("encoder", layer=1).weights(head=2)
    one, other = (each.map("encoder", layer=1).weights(head=2).astype(np.float64) for each in (first, second))
    other = np.delete(other, 3, axis=1) + np.eye(5)[2] * other[:, [3]]  # what "umbrella" receives
    other = np.insert(np.delete(other, [2, 3], axis=0), 2, other[2:4].mean(axis=0), axis=0)  # where it looks
    assert_near(values, one - other)
    assert_near(values.sum(axis=-1), np.zeros(5))  # no key is left out: rows of both sum to one
    entropies = [score(each, "entropy", over="model").value for each in (first, second)]
    assert found.score("entropy", over="model").value == entropies[0] - entropies[1]
    with pytest.raises(InputError, match="other tokens"):
        found.score("entropy", over="query")


def test_keys_that_are_left_out_are_said(recorded) -> None:
    first, second = recorded(["the", "old", "cat", "sat"], 0), recorded(["the", "cat", "sat"], 1)
    found = difference(first, second)
    kept = [0, 2, 3]
    expected = first.map().weights(0)[np.ix_(kept, kept)] - second.map().weights(0)
    assert_near(found.recording.map().weights(0), expected)
    notes = " ".join(map(str, found.recording.evidence.notes))
    assert "old (1)" in notes
    assert "old (1)" in str(found)


def test_maps_of_one_recording_only_are_said(recorded) -> None:
    found = difference(recorded(WORDS, layers=3), recorded(WORDS, 1, layers=2))
    assert [each.place.layer for each in found.recording.maps] == [0, 1]
    assert "encoder layer 2, self is in the first recording only" in str(found)
    assert "layer 2" in str(difference(recorded(WORDS, layers=2), recorded(WORDS, layers=3)).left_out[0])
    with pytest.raises(InputError) as error:
        difference(recorded(WORDS, heads=2), recorded(WORDS, heads=3))
    assert error.value.message.code == "comparison.no_common_map"
    assert "2 heads in the first" in str(error.value)


def test_targets_without_a_common_word_leave_the_source_to_compare() -> None:
    model = gf.load("zoo/translator")
    first, second = (
        gf.record(model, "The tree is green.", target, target_language="fr")
        for target in ("oui", "non merci")
    )
    found = difference(first, second)
    assert {each.place.stack for each in found.recording.maps} == {"encoder"}
    assert found.recording.target is None
    assert not found.identical
    assert all((each.weights() == 0).all() for each in found.recording.maps)  # the same source
    assert [each.code for each in found.left_out] == ["comparison.no_common_word"]


def test_matched_heads_are_subtracted(recorded) -> None:
    first, second = recorded(WORDS, 0, layers=1), recorded(WORDS, 1, layers=2)
    here, there = Place("encoder", "self", 0), Place("encoder", "self", 1)
    order = [(there, 2), (here, 1), (there, 0)]
    matches = tuple(Match((here, head), order[head], 0.9, 0.5, 0.6, 1.0, 0.1) for head in range(3))
    found = difference(first, second, matching=HeadMatching(matches, 2))
    for head, (place, other) in enumerate(order):
        expected = first.map(here).weights(head) - second.map(place).weights(other)
        np.testing.assert_array_equal(found.recording.map(here).weights(head), expected)
    with pytest.raises(InputError, match="matched heads"):
        found.score("entropy")


def test_causal_maps_stay_causal(recorded) -> None:
    pair = recorded(WORDS, 0, causal=True), recorded([*WORDS, "more"], 1, causal=True)
    found = difference(*pair).recording
    assert all(map(is_causal, found.maps))
    assert not any(map(is_causal, difference(recorded(WORDS), recorded(WORDS, 1)).recording.maps))


def test_a_long_difference_is_computed_where_it_is_read(recorded, monkeypatch, tmp_path) -> None:
    words = [f"w{number}" for number in range(600)]
    pair = recorded(words, 0, layers=1), recorded(words, 1, layers=1)
    short = difference(*pair).recording.map()
    monkeypatch.setattr(sys.modules[difference.__module__], "MOST_VALUES", 100)
    found = difference(*pair)
    long = found.recording.map()
    assert isinstance(long, DifferenceMap)
    assert long.dense is None
    for level, row in ((0, 1), (1, 0), (2, 0)):
        first, second = (tile(each.map(), 2, level, row, row) for each in pair)
        np.testing.assert_array_equal(tile(long, 2, level, row, row), first - second)
        extremes = [tile(each, 2, level, row, row, how="max") for each in (long, short)]
        np.testing.assert_array_equal(*extremes)
    assert_near(long.statistics.mass, short.statistics.mass, summands=600)
    assert "looks at" not in str(found)
    with pytest.raises(BundleError, match="Save the two"):
        found.recording.save(tmp_path / "long.bundle")


def test_a_difference_is_saved_and_opened(recorded, tmp_path) -> None:
    found = difference(recorded(WORDS, 0), recorded(WORDS, 1)).recording
    found.save(tmp_path / "difference.bundle")
    again = gf.Recording.open(tmp_path / "difference.bundle")
    assert again.map().content == "signed"
    np.testing.assert_array_equal(again.map().weights(), found.map().weights())
    assert str(again.evidence.notes[0]).startswith("First minus second.")


def test_refusals(recorded) -> None:
    pair = recorded(WORDS, 0), recorded(WORDS, 1)
    with pytest.raises(InputError, match="Name one"):
        difference(*pair, over="head")
    with pytest.raises(InputError, match="not differences"):
        difference(difference(*pair).recording, pair[0])
    statistics = tuple(replace(each, dense=None) for each in pair[1].maps)
    with pytest.raises(InputError, match="only statistics"):
        difference(pair[0], replace(pair[1], maps=statistics))


def test_a_minimal_pair_of_capital_letters_is_named(recorded) -> None:
    words = (["The", "men", "left"], ["the", "men", "left"])
    same = difference(*(recorded(each) for each in words))
    assert same.recording.source.texts[0] == "The/the"
    other = difference(recorded(words[0]), recorded(words[1], model="another"))
    assert other.recording.source.texts[0] == "The"


def test_matched_heads_of_long_maps_are_left_out(recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["the", "men", "left"]
    first, second = recorded(words, 0), recorded(words, 1)
    places = [(each.place, head) for each in first.maps for head in range(each.heads)]
    matches = tuple(
        Match(one, other, 1.0, 0.0, 0.0, None, 0.0) for one, other in zip(places, places[::-1], strict=True)
    )
    matching = HeadMatching(matches, 1)
    assert len(difference(first, second, matching=matching).recording.maps) == 2
    monkeypatch.setattr(sys.modules["glassformer.comparison.difference"], "MOST_VALUES", 30)  # one map has 27
    found = difference(first, second, matching=matching)
    assert len(found.recording.maps) == 1
    assert [note.code for note in found.left_out] == ["comparison.too_long_to_match"]
