"""All heads at a glance."""

import numpy as np
import pytest

from drawings import make_recording
from glassformer.errors import InputError
from glassformer.render.figures import figure
from glassformer.render.figures.heads import CELL, GAP, build_mosaic


def test_mosaic_holds_every_thumbnail_with_gaps_between():
    recording = make_recording()
    mosaic = build_mosaic(list(recording.maps), 2)
    assert mosaic.shape == (2 * CELL + GAP, 2 * CELL + GAP)
    assert np.isnan(mosaic[CELL : CELL + GAP]).all()
    thumbnail = recording.maps[1].statistics.thumbnail_max[0]
    assert mosaic[CELL + GAP, 0] == pytest.approx(np.sqrt(thumbnail[0, 0]))
    figure(recording, "heads").encode("png")


def test_a_map_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(InputError, match=r"^toy has no encoder attention\. Choose cross\.$"):
        figure(make_recording(), "heads", part="encoder", layer=9)
    with pytest.raises(InputError, match=r"no layer 9 of cross\. Choose a layer from 0 to 1\.$"):
        figure(make_recording(), "heads", part="cross", layer=9)
