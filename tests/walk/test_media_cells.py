"""Where the numbers of pictures and sounds come from; tests of the trace compare all of them."""

import numpy as np
import pytest

from glassformer.walk import explain
from glassformer.walk.media_cells import find_bands
from traces import record_perceived


def test_a_number_of_a_patch_names_its_pixel() -> None:
    recording = record_perceived("picture")
    cell = explain(
        recording, "encoder.embedding.patches", row=5, column=16 + 6
    )  # patch 1,2; green; 1,2 in it
    pixels = recording.source.picture.pixels
    assert cell.numbers == {
        "byte": pixels[5, 10, 1],
        "pixel_mean": 0.5,
        "pixel_deviation": 0.5,
        "picture_row": 5.0,
        "picture_column": 10.0,
        "channel": 1.0,
    }
    assert (cell.reads[0].row, cell.reads[0].column) == (12 + 5, 10)


def test_patches_move_one_row_down_behind_the_class_token() -> None:
    recording = record_perceived("picture")
    first = explain(recording, "encoder.embedding.tokens", row=0, column=3)
    assert first.reads[0].name == "parameters/perception.class_vector"
    other = explain(recording, "encoder.embedding.tokens", row=4, column=3)
    assert (other.reads[0].name, other.reads[0].row) == ("encoder/embedding/projected", 3)


def test_a_tone_is_strong_at_its_frequency_and_in_its_band() -> None:
    recording = record_perceived("sound")
    power = recording.trace["encoder/embedding/power"][10]
    column = int(power.argmax())
    cell = explain(recording, "encoder.embedding.power", row=10, column=column)
    assert cell.numbers["hertz"] == 1000
    assert cell.shown == pytest.approx(0.25, rel=1e-3)  # half of a full tone has a quarter of its power
    assert cell.numbers["to_second"] - cell.numbers["from_second"] == pytest.approx(0.025)
    band = int(recording.trace["encoder/embedding/spectrogram"][10].argmax())
    loud = explain(recording, "encoder.embedding.spectrogram", row=10, column=band)
    assert loud.numbers["from_hertz"] < 1000 < loud.numbers["to_hertz"]
    assert max(loud.terms, key=lambda term: term.product or 0).label == "1000 Hz"


def test_bands_grow_with_their_frequency() -> None:
    widths = np.diff(find_bands(12, 8000))
    assert (np.diff(widths) > 0).all()


def test_a_convolution_reads_what_there_is_at_the_edge() -> None:
    recording = record_perceived("sound")
    assert len(explain(recording, "encoder.embedding.first", row=0).terms) == 2 * 12
    middle = explain(recording, "encoder.embedding.first", row=3, column=2)
    assert len(middle.terms) == 3 * 12
    assert middle.terms[0].label == "5, 0"
