"""A bundle opens lazily and as it was saved; every other file is refused."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundles import make_recording
from glassformer import bundle
from glassformer.errors import BundleError
from glassformer.recording import Recording


def test_a_file_of_version_1_opens_as_it_was_saved():
    """Its texts are strings; they become messages that read the same in every language."""
    opened = bundle.open(Path(__file__).parents[1] / "data" / "version_1.bundle")
    saved = make_recording(seed=1, tokens=5, heads=2, text="a\u2028b", score=-0.5)
    assert opened.evidence == saved.evidence
    assert opened.evidence.notes[0].text("zh") == "a note"
    assert opened.maps[2].relaxed.text("zh") == "zeroed"
    assert opened.generation == saved.generation
    assert opened.source.texts == saved.source.texts
    for seen, wanted in zip(opened.maps, saved.maps, strict=True):
        assert seen.place == wanted.place
        np.testing.assert_allclose(seen.weights(), wanted.weights(), atol=1e-6)


@pytest.mark.slow
def test_opening_needs_no_torch_and_reads_lazily(saved):
    code = (
        "import sys; from glassformer import bundle; from glassformer.recording.arrays import is_mapped\n"
        f"recording = bundle.open({str(saved)!r})\n"
        "assert is_mapped(recording.maps[0].factors.queries) and is_mapped(recording.hidden['decoder'])\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_file_cut_anywhere_is_refused(saved):
    content = saved.read_bytes()
    for length in [*range(0, 300), *range(300, len(content), 997), len(content) - 1]:
        saved.write_bytes(content[:length])
        with pytest.raises(BundleError):
            bundle.open(saved)
    saved.write_bytes(content + b"\0")
    with pytest.raises(BundleError, match="cover"):
        bundle.open(saved)


@given(st.data())
def test_flipped_bytes_are_refused_or_harmless(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("flipped") / "x.bundle"
    bundle.save(make_recording(), path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    with suppress(BundleError):
        assert isinstance(bundle.open(path), Recording)


def test_paths_that_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, message in (
        (tmp_path, "not a regular file"),
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path / "no", "No such"),
    ):
        with pytest.raises(BundleError, match=message):
            bundle.open(path)
