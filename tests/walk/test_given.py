"""What a network was given, as arrays: pixels and samples as the recording keeps them."""

import numpy as np

from glassformer.walk.given import perceives, read_given
from traces import record_perceived, record_traced


def test_planes_of_colours_lie_one_below_the_other() -> None:
    recording = record_perceived("picture")
    (pixels,) = read_given(recording.architecture or {}, recording.source).values()
    assert pixels.shape == (36, 12)
    for channel in range(3):
        np.testing.assert_array_equal(
            pixels[12 * channel : 12 * channel + 12], recording.source.picture.pixels[..., channel]
        )


def test_samples_go_on_in_silence_to_the_end_of_the_last_token() -> None:
    recording = record_perceived("sound", hop=90)  # 1,600 samples are 4.4 tokens of 360
    (samples,) = read_given(recording.architecture or {}, recording.source).values()
    assert samples.shape == (5 * 360,)
    np.testing.assert_array_equal(samples[:1600] * 2**15, recording.source.sound.samples)
    assert not samples[1600:].any()


def test_a_text_has_neither() -> None:
    recording = record_traced()
    assert read_given(recording.architecture or {}, recording.source) == {}
    older = {name: value for name, value in (recording.architecture or {}).items() if name != "reads"}
    assert not perceives(older)
