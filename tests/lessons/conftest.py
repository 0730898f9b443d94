"""Tiny random models of every kind in one folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tiny_models import build_model, build_zoo


@pytest.fixture(scope="session")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one model of each kind, as the zoo has them."""
    return build_zoo(tmp_path_factory.mktemp("zoo"))


@pytest.fixture(scope="session")
def build() -> Callable[..., Path]:
    """A function that writes a model into a folder."""
    return build_model
