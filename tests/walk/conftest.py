"""Recordings to walk through."""

import pytest

from glassformer.recording import Recording
from traces import record_full, record_traced


@pytest.fixture(scope="session")
def traced() -> Recording:
    return record_traced()


@pytest.fixture(scope="session")
def full() -> Recording:
    return record_full()
