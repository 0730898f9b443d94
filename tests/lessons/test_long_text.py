"""A long text has as many tokens as were asked for."""

import pytest

from glassformer.errors import InputError
from glassformer.lessons.long_text import MOST_TOKENS, invent_text, open_rotary


def test_a_text_of_so_many_tokens() -> None:
    model = open_rotary()
    assert model.name == "zoo/rotary"
    for tokens in (1, 50):
        text = invent_text(model, tokens)
        assert isinstance(text, str)
        assert len(model.require_tokenizer().encode(text).ids) == tokens
    assert invent_text(model, 50) == text  # the same each time
    for tokens in (0, MOST_TOKENS + 1):
        with pytest.raises(InputError, match="from 1 to"):
            invent_text(model, tokens)
