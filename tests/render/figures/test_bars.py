"""Bars: as tall as scores."""

import itertools

import numpy as np
import pytest

from drawings import make_recording
from glassformer.errors import InputError
from glassformer.recording import from_arrays
from glassformer.render.figures import figure


def test_bars_are_as_tall_as_scores():
    from glassformer.metrics import score

    recording = make_recording()
    drawn = figure(recording, "bars", metric="entropy")
    values = [part.values for part in score(recording, "entropy").parts]
    axes = drawn.canvas.axes[0]
    heights = np.array([[bar.get_height() for bar in group] for group in axes.containers]).T  # (layer, head)
    np.testing.assert_allclose(heights, np.array(values))


@pytest.mark.slow
def test_names_of_layers_do_not_overlap():
    recording = from_arrays(np.full((6, 8, 2, 2), 0.5))
    narrow, wide = (figure(recording, "bars", width=width).canvas for width in ("column", "page"))
    assert all(name.get_rotation() == 60 for name in narrow.axes[0].get_xticklabels())
    wide.draw_without_rendering()
    boxes = [name.get_window_extent() for name in wide.axes[0].get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_a_metric_that_no_head_has_is_refused_instead_of_drawn():
    recording = from_arrays(np.ones((1, 2, 1, 1)))  # one key: no choice, no entropy
    with pytest.raises(InputError) as error:
        figure(recording, "bars", metric="entropy_share")
    assert error.value.message.code == "render.figures.no_values"
    assert "may look at one key only" in str(error.value)
