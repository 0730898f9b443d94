"""Every number is looked at: what samples miss is found."""

from dataclasses import replace

import numpy as np
import pytest

from bundles import make_recording
from glassformer import bundle
from glassformer.bundle.layout import read_header
from glassformer.bundle.scan import scan
from glassformer.errors import RecordingError


def spoil(path, part, value):
    """Write a number into the middle of an array of a bundle."""
    data = bytearray(path.read_bytes())
    with path.open("rb") as file:
        start, entries = read_header(file, len(data), path)
    entry = next(entry for name, entry in entries.items() if part in name)
    count = (entry.stop - entry.start) // np.dtype(entry.dtype).itemsize
    numbers = np.frombuffer(data, entry.dtype, count, start + entry.start)
    numbers[count // 2 + 1] = value
    path.write_bytes(data)


def test_an_honest_recording_passes(saved):
    scan(bundle.open(saved))


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("hidden", np.nan),
        ("hidden", np.inf),
        ("values", -np.inf),
        ("dense_scores", np.nan),
        ("dense_scores", np.inf),
    ],
)
def test_one_number_that_is_none_is_found(saved, part, value):
    spoil(saved, part, value)
    with pytest.raises(RecordingError, match="NaN or infinity"):
        scan(bundle.open(saved))


def test_masked_scores_of_a_trace_may_be_infinite_but_not_nan():
    plain = make_recording()
    scan(replace(plain, trace={"scores": np.array([-np.inf, 1.0], np.float32)}))
    with pytest.raises(RecordingError, match="trace"):
        scan(replace(plain, trace={"scores": np.array([np.nan, 1.0], np.float32)}))
