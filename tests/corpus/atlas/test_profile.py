"""Entropy, distance and the first token, and entropy by position."""

import numpy as np

from glassformer.corpus.atlas.estimates import tidy
from glassformer.corpus.atlas.measuring import find_layers
from glassformer.corpus.atlas.profile import profile_all
from glassformer.corpus.atlas.texts import MarkedText
from glassformer.recording import from_arrays
from tolerances import assert_near


def test_measures_by_hand() -> None:
    uniform = np.tri(5) / np.arange(1, 6)[:, None]
    weights = np.stack([uniform, np.eye(5)])[None]
    profiles = {}
    recording = from_arrays(weights, list("abcde"), stack="decoder")
    profile_all(profiles, find_layers(recording, MarkedText("abcde")))
    profile = profiles["decoder", "self"]
    assert_near(profile.values["entropy"][0], [1.0, 0.0], summands=5)
    assert_near(profile.values["first_token"][0], [np.mean([1 / 2, 1 / 3, 1 / 4, 1 / 5]), 0.0])
    assert_near(profile.values["distance"][0], [np.mean([0.5, 1.0, 1.5, 2.0]), 0.0])
    first = profile.read_positions(0)
    assert first.edges == (0, 1, 2, 4, 8)
    assert first.entropy == (None, 1.0, 1.0, 1.0)  # the first row has no choice
    assert first.distance == (None, 0.5, 1.25, 2.0)
    assert first.first_token == first.self_token == (None, 0.5, tidy((1 / 3 + 1 / 4) / 2), 0.2)
    assert profile.read_positions(1).self_token == (None, 1.0, 1.0, 1.0)
