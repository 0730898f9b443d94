"""Lines: one for every weight that is worth it."""

import numpy as np
import pytest

from drawings import SVG, find, make_recording, read_svg
from glassformer.errors import InputError
from glassformer.recording import from_arrays
from glassformer.render.figures import figure


def test_lines_are_as_many_as_weights_above_one_percent():
    recording = make_recording()
    root = read_svg(figure(recording, "lines", layer=0, head=[0, 1]))
    for head in (0, 1):
        lines = list(find(root, f"head-{head}").iter(f"{SVG}path"))
        assert len(lines) == int((recording.maps[0].weights(head) >= 0.01).sum())


def test_signed_values_are_refused():
    recording = from_arrays(np.array([[[[-1.0, 0.5], [0.25, 0.0]]]]), content="signed")
    with pytest.raises(InputError) as error:
        figure(recording, "lines")
    assert error.value.message.code == "render.figures.signed_lines"
