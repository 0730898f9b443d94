"""A tokenizer for tiny models of transformers."""

from typing import Any

import pytest

from their_models import make_tokenizer


@pytest.fixture
def tokenizer() -> Any:
    return make_tokenizer()
