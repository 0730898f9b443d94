"""Tiny random models of every kind in one folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tiny_models import build_model


@pytest.fixture(scope="session")
def zoo(tiny_zoo: Path) -> Path:
    """A folder with one model of each kind, as the zoo has them."""
    return tiny_zoo


@pytest.fixture(scope="session")
def build() -> Callable[..., Path]:
    """A function that writes a model into a folder."""
    return build_model
