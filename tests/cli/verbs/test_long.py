"""`glassformer long`."""

from pathlib import Path

import pytest

from cli.conftest import Command
from glassformer import bundle
from tolerances import assert_near

STREAMED = b'"kept/decoder/self/0/queries"'  # the name of an array that was written while the model ran


@pytest.mark.slow
def test_a_long_recording_streams_into_its_file(
    tmp_path: Path, run: Command, complain: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "long.bundle"
    assert "3,000 tokens" in run("long", "--tokens", 3000, "--output", file)
    assert STREAMED in file.read_bytes()
    recording = bundle.open(file)
    assert len(recording.source) == 3000
    first = recording.map(layer=0)
    assert first.factors is not None  # weights follow from queries and keys
    assert_near(first.weights(0, slice(2000, 2001)).sum(), 1, layers=2)
    assert "0 tokens cannot" in complain("long", "--tokens", 0, "--output", file)

    def fail(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    before = file.read_bytes()
    monkeypatch.setattr("glassformer.render.terminal.heatmap.draw_recording", fail)  # after the model has run
    with pytest.raises(AssertionError):  # complain() wants silence on stdout, and `long` has begun to talk
        complain("long", "--tokens", 3000, "--output", file)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["long.bundle"]  # no part of the second try
