"""The difference of two recordings: first minus second, symmetric about zero, the sign stated."""

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.recording import from_arrays
from glassformer.render.figures import figure
from tolerances import assert_near

FIRST = np.random.default_rng(1).dirichlet(np.ones(4), size=(2, 2, 4))
SECOND = np.random.default_rng(2).dirichlet(np.ones(4), size=(2, 2, 4))
TOKENS = list("abcd")


@pytest.mark.slow
def test_the_first_minus_the_second():
    first, second = (from_arrays(each, TOKENS, model=name) for each, name in ((FIRST, "A"), (SECOND, "B")))
    drawn = figure(first, "difference", against=second, layer=1, head=0)
    picture = drawn.canvas.axes[0].collections[0]
    wanted = FIRST[1, 0] - SECOND[1, 0]
    assert_near(picture.get_array().reshape(4, 4), wanted, operations=1, summands=1)
    assert picture.get_clim() == pytest.approx((-np.abs(wanted).max(), np.abs(wanted).max()))
    assert picture.cmap(1.0)[0] > picture.cmap(1.0)[2]  # red above zero: the first has more
    assert "Difference: A minus B; red where A gives more weight, blue where B does" in drawn.caption
    assert drawn.canvas.axes[1].get_ylabel() == "weight: first − second"


@pytest.mark.slow
def test_other_tokens_are_aligned_and_said():
    part = SECOND[..., :3, :3]
    first = from_arrays(FIRST, TOKENS)
    second = from_arrays(part / part.sum(axis=-1, keepdims=True), list("abd"))
    drawn = figure(first, against=second, layer=1, head=0)
    kept = [0, 1, 3]
    wanted = FIRST[1, 0][np.ix_(kept, kept)] - second.map(layer=1).weights(0)
    picture = drawn.canvas.axes[0].collections[0]
    assert_near(picture.get_array().reshape(3, 3), wanted, operations=1, summands=1)
    assert "in the first only (1 tokens): c (2)" in drawn.caption


def test_texts_with_nothing_in_common_are_refused():
    first, second = from_arrays(FIRST, TOKENS), from_arrays(SECOND, list("wxyz"))
    with pytest.raises(InputError) as error:
        figure(first, "difference", against=second)
    assert error.value.message.code == "comparison.nothing_in_common"
