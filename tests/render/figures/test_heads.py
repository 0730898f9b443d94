"""All heads at a glance."""

import numpy as np
import pytest

from drawings import make_recording
from glassformer.errors import InputError
from glassformer.recording import from_arrays
from glassformer.render.figures import figure
from glassformer.render.figures.heads import CELL, GAP, build_mosaic


@pytest.mark.slow
def test_mosaic_holds_every_thumbnail_with_gaps_between():
    recording = make_recording()
    mosaic = build_mosaic(list(recording.maps), [0, 1])
    assert mosaic.shape == (2 * CELL + GAP, 2 * CELL + GAP)
    assert np.isnan(mosaic[CELL : CELL + GAP]).all()
    thumbnail = recording.maps[1].statistics.thumbnail_max[0]
    assert mosaic[CELL + GAP, 0] == thumbnail[0, 0]
    figure(recording, "heads").encode("png")


def test_a_map_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(InputError, match=r"^toy has no encoder attention\. Choose cross\.$"):
        figure(make_recording(), "heads", part="encoder", layer=9)
    with pytest.raises(InputError, match=r"no layer 9 of cross\. Choose a layer from 0 to 1\.$"):
        figure(make_recording(), "heads", part="cross", layer=9)


@pytest.mark.parametrize("view", ["heads", "heatmap"])
def test_captions_of_signed_values_do_not_call_them_weights(view):
    canvas = figure(from_arrays(np.array([[[[-1.0, 0.5], [0.25, 0.0]]]]), content="signed"), view).canvas
    caption = canvas.get_supxlabel()
    assert "given arrays" in caption
    assert "weight" not in caption
    assert "sum to one" not in caption
