"""Masks are found again from what a map kept, or refused."""

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.metrics.masks import find_allowed

CAUSAL = np.tri(3, dtype=bool)


@pytest.mark.parametrize("backing", ["dense", "factors"])
def test_weights_above_zero_show_the_mask(make_map, draw, backing) -> None:
    weights, allowed = draw(0, (1, 5, 5), causal=True)
    assert (find_allowed(make_map(weights, backing, allowed), 0) == allowed).all()


def test_weights_that_became_zero_leave_a_causal_mask(make_map) -> None:
    sharp = np.array([[[1.0, 0, 0], [0, 1, 0], [0, 0, 1]]])  # every other weight was too small
    assert (find_allowed(make_map(sharp, allowed=CAUSAL), 0) == CAUSAL).all()
    assert find_allowed(make_map(sharp), 0).all()  # all keys were allowed


def test_a_mask_that_nothing_explains_is_refused(make_map) -> None:
    odd = np.array([[True, False, True], [True, True, False], [True, True, True]])
    sharp = np.array([[[1.0, 0, 0], [1, 0, 0], [1, 0, 0]]])
    with pytest.raises(InputError) as error:
        find_allowed(make_map(sharp, allowed=odd), 0)
    assert error.value.message.code == "metrics.unknown_mask"
