"""Texts are chosen that show most heads; edges are the strongest where a detector looks."""

import numpy as np

from glassformer.corpus.atlas.examples import Candidate, choose_examples, find_edges, shrink
from glassformer.corpus.atlas.measuring import find_aims, find_layers
from glassformer.corpus.atlas.texts import MarkedText
from glassformer.recording import Recording, from_arrays

BACK = np.eye(4, k=-1) + np.outer([1, 0, 0, 0], [1, 0, 0, 0])
WEAK = 0.5 * BACK + 0.5 * np.eye(4)


def candidate(weights) -> Candidate:
    recording = from_arrays(
        np.stack([weights, np.eye(4)])[None], list("abcd"), stack="decoder", mask=np.tri(4)
    )
    return Candidate(recording, find_layers(recording, MarkedText("abcd")))


def test_the_text_that_shows_a_type_best_comes_first() -> None:
    types = {("decoder", "self"): ["previous_token", None]}
    recordings, examples = choose_examples([candidate(WEAK), candidate(BACK)], types, 1)
    assert len(recordings) == 1
    first, second = examples["decoder", "self"]
    assert {(each.query - each.key, each.value, each.detector) for each in first} == {
        (1, 1.0, "previous_token")
    }
    assert second[0].query == second[0].key


def test_a_second_text_that_shows_no_more_is_not_kept() -> None:
    types = {("decoder", "self"): ["previous_token", None]}
    assert len(choose_examples([candidate(BACK), candidate(WEAK)], types, 2)[0]) == 1


def test_a_head_whose_type_no_text_can_show_is_shown_by_its_strongest_weights() -> None:
    types = {("decoder", "self"): ["alignment", "previous_token"]}
    first, _ = choose_examples([candidate(BACK)], types, 1)[1]["decoder", "self"]
    assert [(each.query - each.key, each.detector) for each in first] == [(1, None)] * 3


def test_edges_are_where_the_detector_looks() -> None:
    layers = candidate(WEAK).layers["decoder", "self"]
    aim = next(each for each in find_aims(layers.view) if each.name == "same_token")
    assert all(edge.query == edge.key for edge in find_edges(layers.weights[0], layers, aim))


def test_small_recordings_open_with_the_same_weights(tmp_path) -> None:
    recording = candidate(WEAK).recording
    recording.save(tmp_path / "whole.bundle")
    shrink(recording).save(tmp_path / "small.bundle")
    sizes = [(tmp_path / f"{name}.bundle").stat().st_size for name in ("small", "whole")]
    assert sizes[0] < sizes[1]
    opened = Recording.open(tmp_path / "small.bundle")
    assert np.array_equal(opened.map("decoder").weights(), recording.map("decoder").weights())
