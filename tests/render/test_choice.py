"""Which map and which head are drawn, and how tokens are labelled."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.errors import InputError, RecordingError
from glassformer.recording import Recording
from glassformer.render.choice import choose_head, label
from translations import EVIDENCE, attention_map, tokens, translation


def test_a_label_shows_what_cannot_be_printed() -> None:
    assert label(" love ") == "love"
    assert label("  ") == "␣"
    assert label("a\nb\n") == "a␣b␣"


def test_the_sharpest_head_of_cross_attention_is_chosen() -> None:
    chosen, head = choose_head(translation())
    assert (chosen.kind, head) == ("cross", 1)


def test_a_head_can_be_asked_for() -> None:
    recording = translation()
    chosen, head = choose_head(recording, part="decoder")
    assert (chosen.kind, head) == ("self", 0)
    assert choose_head(recording, head=0)[1] == 0
    with pytest.raises(
        InputError, match=r"no layer 7 of cross\. Choose a layer from 0 to 0, or another part: decoder"
    ):
        choose_head(recording, layer=7)
    with pytest.raises(RecordingError, match="no head 9"):
        choose_head(recording, head=9)


def test_a_part_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match=r"toy has no encoder attention\. Choose cross or decoder"):
        choose_head(translation(), part="encoder")


def test_a_layer_that_is_not_there_names_those_of_its_part() -> None:
    source = tokens("source", ["a", "b"])
    target = tokens("target", ["c", "d"])
    cross = attention_map(np.full((1, 2, 2), 0.5, dtype=np.float32), target, source)
    made = attention_map(np.eye(2, dtype=np.float32)[None], target, target)
    deeper = replace(made, place=made.place._replace(layer=5))
    recording = Recording("toy", EVIDENCE, source, target, (cross, deeper))
    with pytest.raises(InputError, match="Choose a layer from 0 to 0, or another part: decoder"):
        choose_head(recording, part="cross", layer=5)
