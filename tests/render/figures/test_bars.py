"""Bars: as tall as scores."""

import numpy as np

from drawings import make_recording
from glassformer.render.figures import figure


def test_bars_are_as_tall_as_scores():
    from glassformer.metrics import score

    recording = make_recording()
    drawn = figure(recording, "bars", metric="entropy")
    values = [part.values for part in score(recording, "entropy").parts]
    axes = drawn.canvas.axes[0]
    heights = np.array([[bar.get_height() for bar in group] for group in axes.containers]).T  # (layer, head)
    np.testing.assert_allclose(heights, np.array(values))
