"""The process of all searches in these tests ends with them."""

from collections.abc import Iterator

import pytest

pytest.importorskip("optuna", reason="the extra `search` is not installed")

from training.search.searching import engine


@pytest.fixture(scope="session", autouse=True)
def _close_engine() -> Iterator[None]:
    yield
    engine.close()
