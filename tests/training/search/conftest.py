"""The process of all searches in these tests ends with them."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _close_engine() -> Iterator[None]:
    yield
    searching = sys.modules.get("training.search.searching")  # skipped where Optuna is not installed
    if searching is not None:
        searching.engine.close()
