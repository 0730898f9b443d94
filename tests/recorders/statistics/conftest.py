"""Fixtures of these tests."""

import pytest

from measured_examples import KINDS


@pytest.fixture(params=sorted(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    return request.param
