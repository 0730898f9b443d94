"""Texts are messages in Python, and their codes and parameters in JSON."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from glassformer.lessons.schema import Table, read_defaults
from glassformer.messages import message
from glassformer.messages.catalogues import find_template


def test_a_table_of_messages_texts_and_numbers_reads_back() -> None:
    cells = (message("lessons.heads.favourite", head=1, word="it"), "O(n)", 2.5, None)
    table = Table(id="t", title=message("lessons.lookup.table"), columns=(), rows=(cells,))
    sent = json.loads(table.model_dump_json())
    assert sent["rows"][0][0] == {
        "code": "lessons.heads.favourite",
        "parameters": {"head": 1, "word": "it"},
        "default": None,
    }
    assert sent["rows"][0][1:] == ["O(n)", 2.5, None]
    assert Table.model_validate(sent) == table


def test_a_text_without_a_code_is_refused() -> None:
    with pytest.raises(ValidationError, match="Message"):
        Table(id="t", title="a sentence", columns=(), rows=())  # type: ignore[arg-type]


def find_codes(part: Any) -> Iterator[str]:
    """Of the messages in JSON, at any depth."""
    if isinstance(part, dict):
        if "code" in part:
            yield part["code"]
        part = list(part.values())
    for each in part if isinstance(part, list) else ():
        yield from find_codes(each)


def test_what_ships_has_no_text_in_one_language() -> None:
    """Every text is a code of the catalogues, so that any language can have it."""
    defaults = read_defaults()
    for result in defaults.results.values():
        for text in (result.found, *(figure.title for figure in result.figures)):
            assert text.default is None
    codes = set(find_codes(defaults.model_dump(mode="json")))
    assert len(codes) > 100
    assert [code for code in sorted(codes) if find_template(code, "en") is None] == []
