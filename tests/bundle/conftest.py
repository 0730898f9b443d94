"""A bundle to open or to break."""

from pathlib import Path

import pytest

from bundles import make_recording
from glassformer import bundle


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.bundle"
    bundle.save(make_recording(), path)
    return path
