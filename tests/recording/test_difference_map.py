"""A difference that is computed where it is read."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.errors import RecordingError
from glassformer.recording import DifferenceMap, from_arrays


def make(seed: int, count: int = 5):
    weights = np.random.default_rng(seed).dirichlet(np.ones(count), size=(2, count))
    return from_arrays(weights[None]).map()


def test_rectangles_and_sums_are_subtractions() -> None:
    first, second = make(0), make(1)
    found = DifferenceMap.of(first, second)
    assert (found.content, found.has_weights, found.has_scores) == ("signed", True, False)
    np.testing.assert_array_equal(found.weights(), first.weights() - second.weights())
    part = found.weights(1, slice(1, 3), slice(2, 5))
    np.testing.assert_array_equal(part, (first.weights() - second.weights())[1, 1:3, 2:5])
    mass = first.statistics.mass - second.statistics.mass
    np.testing.assert_allclose(found.statistics.mass, mass, rtol=0, atol=np.finfo(np.float32).eps)
    assert np.isnan(found.statistics.peak).all()


def test_maps_of_other_lengths_or_without_weights_are_refused() -> None:
    with pytest.raises(RecordingError):
        DifferenceMap.of(make(0), make(1, 6))
    with pytest.raises(RecordingError, match="weights"):
        DifferenceMap.of(make(0), replace(make(1), dense=None))
