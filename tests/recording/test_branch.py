"""Where a recording left another one: checked, and read-only."""

import pytest

from glassformer.errors import RecordingError
from glassformer.recording import Branch


def test_a_name_is_one_short_line() -> None:
    assert Branch("a", 0, None, "  what\n if  ").name == "what if"
    for bad in ("x" * 121, "\x00", "\ud800", 3):
        with pytest.raises(RecordingError):
            Branch("a", 0, None, bad)


@pytest.mark.parametrize("bad", [{"parent": ""}, {"step": -1}, {"step": True}, {"token": -1}, {"token": "x"}])
def test_what_cannot_be_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(RecordingError):
        Branch(**{"parent": "a", "step": 0, **bad})
