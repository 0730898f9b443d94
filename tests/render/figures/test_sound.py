"""Attention under the wave as a figure: rows are weights over time, dots their largest."""

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.recording import Sound
from glassformer.render.figures import figure
from glassformer.render.figures.sound import divide_time, find_peaks
from inventions import invent_captioner, invent_listener


def find(drawn, gid):
    return drawn.canvas.findobj(lambda artist: artist.get_gid() == gid)


@pytest.mark.slow
def test_words_over_time_with_their_peaks_and_boundaries():
    recording = invent_listener()
    weights = recording.maps[2].weights(1)
    drawn = figure(recording, "sound", place="decoder.cross.0", head=1, language="en")
    [mesh] = find(drawn, "weights")
    np.testing.assert_array_equal(mesh.get_array(), weights)
    [dots] = find(drawn, "peaks")
    np.testing.assert_array_equal(dots.get_xdata(), recording.source.sound.spans[weights.argmax(1)].mean(1))
    lines = {float(each.get_xdata()[0]) for each in find(drawn, "boundary")}
    assert lines == {0.1, 0.4, 0.6, 0.9}
    peaks = recording.source.sound.spans[weights.argmax(1)].mean(1)
    hits = int(0.02 <= peaks[0] <= 0.48) + int(0.52 <= peaks[1] <= 0.98)
    assert f"{hits} of 2 dots lie within their word" in drawn.caption


def test_heads_over_time():
    recording = invent_listener()
    drawn = figure(recording, "sound", place="encoder.self.0", language="en")
    [mesh] = find(drawn, "weights")
    expected = [recording.maps[0].weights(head).astype(float).mean(0) for head in range(2)]
    np.testing.assert_array_equal(mesh.get_array(), expected)
    assert not find(drawn, "peaks")


def test_frames_that_overlap_meet_in_the_middle():
    samples = np.zeros(100, np.int16)
    sound = Sound(samples, 100, [[-1, -1], [0.4, 0.8], [0.0, 0.6]])  # the first token is no frame
    order, edges = divide_time(sound)
    assert order.tolist() == [2, 1]
    np.testing.assert_allclose(edges, [0.0, 0.45, 0.8])


def test_the_largest_weight_is_sought_among_frames():
    sound = Sound(np.zeros(100, np.int16), 100, [[-1, -1], [0.0, 0.4], [0.4, 0.8]])
    weights = np.array([[0.9, 0.02, 0.08], [0.5, 0.3, 0.2]])  # the first token is no frame
    np.testing.assert_allclose(find_peaks(sound, weights, divide_time(sound)[0]), [0.6, 0.2])


def test_without_frames_it_is_refused():
    with pytest.raises(InputError, match="are not frames of a sound"):
        figure(invent_captioner(), "sound", place="encoder.self.0")
