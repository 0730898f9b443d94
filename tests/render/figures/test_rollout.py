"""Rollout as a figure: the numbers of the paper's recursion, computed here once more."""

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.recording import from_arrays
from glassformer.render.figures import figure
from tolerances import assert_near


@pytest.mark.slow
def test_the_matrix_is_the_product_of_the_layers():
    weights = np.random.default_rng(3).dirichlet(np.ones(5), size=(3, 2, 5))  # (layer, head, query, key)
    drawn = figure(from_arrays(weights, list("abcde")), "rollout", layer=1, parameters={"residual": 0.25})
    rolled = np.eye(5)
    for layer in (0, 1):
        mixed = 0.25 * np.eye(5) + 0.75 * weights[layer].mean(axis=0)
        rolled = mixed / mixed.sum(axis=1, keepdims=True) @ rolled
    shown = drawn.canvas.axes[0].collections[0].get_array().reshape(5, 5)
    assert_near(shown, rolled, operations=2, summands=5)
    assert "layers 0 to 1" in drawn.caption
    assert "share 0.25" in drawn.caption
    last = figure(from_arrays(weights, list("abcde")), "rollout")
    assert "layers 0 to 2" in last.caption


def test_a_layer_that_is_not_there():
    recording = from_arrays(np.full((1, 1, 2, 2), 0.5))
    with pytest.raises(InputError) as error:
        figure(recording, "rollout", layer=4)
    assert error.value.message.code == "render.figures.no_rollout"
